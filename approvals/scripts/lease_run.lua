-- Takes a run for one worker: queued -> running, ready -> resuming, or as it was when the last lease is over.
-- KEYS[1] the tenant's prefix
-- ARGV    run, token, ttl (ms)
-- Answers ok {epoch, state} | repeated {epoch, state} | lease_lost | wrong_state {state} | not_found
local run, token, ttl = unpack(ARGV)
local r = read(key.run(run), { 'state', 'token', 'epoch', 'lease_until' })
local becomes = { queued = 'running', ready = 'resuming', running = 'running', resuming = 'resuming' }
local next_state = r.state and becomes[r.state]
if not next_state then
  let_sleep('start_run', run) -- paused, ended or forgotten: whoever comes next must not be woken for nothing
  let_sleep('resume_run', run)
  if not r.state then return { 'not_found' } end
  return { 'wrong_state', 'state', r.state }
end
if next_state == r.state and tonumber(r.lease_until or 0) > NOW then
  if r.token == token then return { 'repeated', 'epoch', r.epoch, 'state', r.state } end
  return { 'lease_lost' }
end

local epoch, lease_until = r.epoch + 1, NOW + ttl
exec('HSET', key.run(run), 'state', next_state, 'token', token, 'epoch', int(epoch), 'lease_until', int(lease_until))
wake_again(next_state == 'running' and 'start_run' or 'resume_run', run, lease_until)
return { 'ok', 'epoch', int(epoch), 'state', next_state }
