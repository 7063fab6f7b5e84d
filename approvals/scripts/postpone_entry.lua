-- A message could not be sent now and is tried again later.
-- KEYS[1] the tenant's prefix
-- ARGV    entry, delay (ms), error, unsure (1: Slack may have taken it)
-- Answers ok | not_found
local entry, delay, error, unsure = unpack(ARGV)
if not exec('ZSCORE', key.outbox, entry) then return { 'not_found' } end

exec('HINCRBY', key.entry(entry), 'attempts', 1)
exec('HSET', key.entry(entry), 'error', error)
exec('HDEL', key.entry(entry), 'sender')
if unsure ~= '1' then exec('HDEL', key.entry(entry), 'sending') end
exec('ZADD', key.outbox, int(NOW + delay), entry)
return { 'ok' }
