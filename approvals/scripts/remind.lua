-- Half of the time is over: the thread is reminded, and directly those who were asked and have not answered. A reminder
-- that comes so late that the next tier is due is dropped.
-- KEYS[1] the tenant's prefix
-- ARGV    batch, limit (notifications per hour), then a list of users and usergroups, led by its length
-- Answers ok | repeated | not_found
local arg = reader(ARGV)
local batch, limit = arg(), arg()
local ids = listed(arg)
local b = read(key.batch(batch), { 'run', 'decide_by' })
local due = tonumber(exec('ZSCORE', key.deadlines, 'remind:' .. batch) or nil)
local last = tonumber(exec('ZSCORE', key.deadlines, 'escalate:' .. batch) or b.decide_by or 0)
if not b.run then
  drop_deadline('remind', batch)
  return { 'not_found' }
end
if not due or due > NOW then return { 'repeated' } end
drop_deadline('remind', batch)
if exec('SCARD', key.batch_open(batch)) == 0 or NOW >= last then return { 'repeated' } end

record('reminded', 'run', b.run, 'batch', batch)
owe_in_thread('reminder', 'half:' .. batch, b.run)
tell_directly(batch, ids, limit, 'recalled')
return { 'ok' }
