-- The time of a batch is over: its undecided calls expire as nobody's decision, decided ones stay as they are.
-- KEYS[1] the tenant's prefix
-- ARGV    batch
-- Answers ok {expired} | repeated | not_found
local batch = unpack(ARGV)
if exec('EXISTS', key.batch(batch)) == 0 then
  drop_deadline('decide', batch)
  return { 'not_found' }
end
local due, later = {}, nil
for _, id in ipairs(exec('LRANGE', key.batch_calls(batch), 0, -1)) do
  local c = load_call(id)
  local by = c.state == 'pending_review' and decide_by(c)
  if by and by <= NOW then
    due[#due + 1] = c
  elseif by then
    later = math.min(later or by, by)
  end
end

drop_deadline('decide', batch)
if later then set_deadline('decide', batch, later) end
for _, c in ipairs(due) do
  local reason = c.refreshing and 'not checked in time' or ''
  record_call(c.canary and 'canary_unseen' or 'expired', c, 'cause', 'nobody decided', 'reason', reason)
  become(c, 'expired', 'cause', 'nobody decided', 'reason', reason)
end
if #due == 0 then return { 'repeated' } end
if not due[1].canary then owe('alert', batch) end
return { 'ok', 'expired', int(#due) }
