-- Keeps a run's lease, and its wakeup away, for another while.
-- KEYS[1] the tenant's prefix
-- ARGV    run, token, epoch, ttl (ms)
-- Answers ok | lease_lost
local run, token, epoch, ttl = unpack(ARGV)
if not holds_run(run, token, epoch) then return { 'lease_lost' } end

exec('HSET', key.run(run), 'lease_until', int(NOW + ttl))
local job = exec('HGET', key.run(run), 'state') == 'running' and 'start_run' or 'resume_run'
wake_again(job, run, NOW + ttl)
return { 'ok' }
