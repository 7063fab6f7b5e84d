-- Drops a run's lease before its end; it is taken up again after the delay, from the last saved turn.
-- KEYS[1] the tenant's prefix
-- ARGV    run, token, epoch, delay (ms)
-- Answers ok | lease_lost
local run, token, epoch, delay = unpack(ARGV)
if not holds_run(run, token, epoch) then return { 'lease_lost' } end

local resuming = exec('HGET', key.run(run), 'state') == 'resuming'
exec('HSET', key.run(run), 'state', resuming and 'ready' or 'queued')
exec('HDEL', key.run(run), 'token', 'lease_until')
wake_again(resuming and 'resume_run' or 'start_run', run, NOW + delay)
return { 'ok' }
