-- Takes a failed run up again where it was.
-- KEYS[1] the tenant's prefix
-- ARGV    run, by
-- Answers ok {state} | wrong_state {state} | not_found
local run, by = unpack(ARGV)
local r = read(key.run(run), { 'state', 'ended_from' })
if not r.state then return { 'not_found' } end
if r.state ~= 'failed' then return { 'wrong_state', 'state', r.state } end

local resuming = r.ended_from == 'resuming'
exec('HSET', key.run(run), 'state', resuming and 'ready' or 'queued')
exec('HDEL', key.run(run), 'reason', 'answer', 'ended_at', 'ended_by')
exec('SREM', key.dead_letters, 'run:' .. run)
drop_deadline('retire', run)
wake(resuming and 'resume_run' or 'start_run', run)
record('requeued', 'run', run, 'actor', by)
owe('alert', 'run:' .. run)
owe('opening', run)
return { 'ok', 'state', resuming and 'ready' or 'queued' }
