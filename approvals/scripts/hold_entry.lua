-- A message waits for its turn: its channel takes no more just now. No attempt was made.
-- KEYS[1] the tenant's prefix
-- ARGV    entry, delay (ms)
-- Answers ok
local entry, delay = unpack(ARGV)
exec('ZADD', key.outbox, 'XX', int(NOW + delay), entry)
return { 'ok' }
