-- A message will never arrive: ops is told instead, unless it was for ops or only a reminder.
-- KEYS[1] the tenant's prefix
-- ARGV    entry, error
-- Answers ok | repeated
local entry, error = unpack(ARGV)
if exec('ZREM', key.outbox, entry) == 0 then return { 'repeated' } end

exec('ZREM', key.owed, entry)
exec('HSET', key.entry(entry), 'error', error)
exec('HDEL', key.entry(entry), 'sender', 'sending')
local quiet = { alert = true, reminder = true, direct = true, report = true, picture = true }
if not quiet[exec('HGET', key.entry(entry), 'kind')] then owe('alert', 'outbox:' .. entry) end
return { 'ok' }
