-- Keeps a batch's lease, and its wakeup away, for another while.
-- KEYS[1] the tenant's prefix
-- ARGV    batch, token, epoch, ttl (ms)
-- Answers ok | lease_lost
local batch, token, epoch, ttl = unpack(ARGV)
if not holds_batch(batch, token, epoch) then return { 'lease_lost' } end

exec('HSET', key.batch(batch), 'lease_until', int(NOW + ttl))
wake_again('execute_batch', batch, NOW + ttl)
return { 'ok' }
