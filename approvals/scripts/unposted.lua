-- A card could not be posted within its hour: nobody was asked, so its calls expire and ops is told.
-- KEYS[1] the tenant's prefix
-- ARGV    batch
-- Answers ok {expired} | repeated | not_found
local batch = unpack(ARGV)
local b = read(key.batch(batch), { 'run', 'posted_at', 'post_by' })
if not b.run or b.posted_at then
  drop_deadline('post', batch)
  return { b.run and 'repeated' or 'not_found' }
end
if tonumber(b.post_by) > NOW then return { 'repeated' } end

local open, canary = exec('SMEMBERS', key.batch_open(batch)), nil
drop_deadline('post', batch)
for _, id in ipairs(open) do
  local c = load_call(id)
  canary = c.canary
  record_call(c.canary and 'canary_unseen' or 'expired', c, 'cause', 'could not be posted')
  become(c, 'expired', 'cause', 'could not be posted')
end
if #open == 0 then return { 'repeated' } end
if not canary then owe('alert', batch) end
return { 'ok', 'expired', int(#open) }
