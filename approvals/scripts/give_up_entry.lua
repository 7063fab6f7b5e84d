-- A message will never arrive: ops is told instead, unless it was for ops.
-- KEYS[1] the tenant's prefix
-- ARGV    entry, error
-- Answers ok | repeated
local entry, error = unpack(ARGV)
if exec('ZREM', key.outbox, entry) == 0 then return { 'repeated' } end

exec('HSET', key.entry(entry), 'error', error)
exec('HDEL', key.entry(entry), 'sender', 'sending')
if exec('HGET', key.entry(entry), 'kind') ~= 'alert' then owe('alert', 'outbox:' .. entry) end
return { 'ok' }
