-- A message will never arrive: ops is told instead, unless it was for ops, or only a reminder. About an undo that was
-- asked for again there is nothing to tell by now. What is owed anew since is not given up.
-- KEYS[1] the tenant's prefix
-- ARGV    entry, error, version (that was to be sent)
-- Answers ok | repeated
local entry, error, version = unpack(ARGV)
local kind, subject = string.match(entry, '^(.-):(.*)$')
local desired = exec('HGET', key.entry(entry), 'desired')
if desired ~= version or exec('ZREM', key.outbox, entry) == 0 then return { 'repeated' } end

exec('ZREM', key.owed, entry)
exec('HSET', key.entry(entry), 'error', error)
exec('HDEL', key.entry(entry), 'sender', 'sending')
local quiet = { alert = true, reminder = true, direct = true, report = true, picture = true }
local moot = kind == 'undo' and not undo_ended(subject)
if not quiet[kind] and not moot then owe('alert', 'outbox:' .. entry) end
return { 'ok' }
