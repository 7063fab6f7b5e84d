-- Most of the time is over and nobody is on it: the next tier may decide too, and is told. Too late, nothing happens.
-- KEYS[1] the tenant's prefix
-- ARGV    batch, limit (notifications per hour), then a list of the next tier's users and usergroups, led by its length
-- Answers ok | repeated | not_found
local arg = reader(ARGV)
local batch, limit = arg(), arg()
local ids = listed(arg)
local b = read(key.batch(batch), { 'run', 'decide_by', 'on_it', 'escalated_at' })
local due = tonumber(exec('ZSCORE', key.deadlines, 'escalate:' .. batch) or nil)
if not b.run then
  drop_deadline('escalate', batch)
  return { 'not_found' }
end
if not due or due > NOW then return { 'repeated' } end
drop_deadline('escalate', batch)
local over = NOW >= tonumber(b.decide_by or 0)
if over or b.on_it or b.escalated_at or exec('SCARD', key.batch_open(batch)) == 0 then return { 'repeated' } end

exec('HSET', key.batch(batch), 'escalated_at', int(NOW))
to_inbox(batch)
record('escalated', 'run', b.run, 'batch', batch)
owe_in_thread('card', batch, b.run)
owe_in_thread('reminder', 'next:' .. batch, b.run)
tell_directly(batch, ids, limit, 'called')
return { 'ok' }
