-- Ends a run: completed, stopped on purpose, or failed (its state is kept for an operator).
-- KEYS[1] the tenant's prefix
-- ARGV    run, token, epoch, state, reason, answer (encrypted)
-- Answers ok | repeated | lease_lost
local run, token, epoch, state, reason, answer = unpack(ARGV)
local r = read(key.run(run), { 'state', 'ended_by', 'channel' })
if r.state == state and r.ended_by == token .. ':' .. epoch then return { 'repeated' } end
if not holds_run(run, token, epoch) then return { 'lease_lost' } end

exec('HSET', key.run(run), 'state', state, 'reason', reason, 'answer', answer, 'ended_at', int(NOW),
  'ended_by', token .. ':' .. epoch, 'ended_from', r.state)
exec('HDEL', key.run(run), 'token', 'lease_until')
let_sleep('start_run', run)
let_sleep('resume_run', run)
set_deadline('retire', run, NOW + 7 * DAY)
record(state == 'failed' and 'run_failed' or state, 'run', run, 'reason', reason)
owe('answer', run, r.channel)
owe('opening', run, r.channel)
if state == 'failed' then
  exec('SADD', key.dead_letters, 'run:' .. run)
  owe('alert', 'run:' .. run)
end
return { 'ok' }
