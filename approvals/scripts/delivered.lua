-- A message stands in Slack and shows this version; it stays owed while a newer one is desired. The opening of a run
-- that had no thread becomes its thread.
-- KEYS[1] the tenant's prefix
-- ARGV    entry, version, channel, ts
-- Answers ok | repeated | not_found
local entry, version, channel, ts = unpack(ARGV)
local e = read(key.entry(entry), { 'desired', 'delivered', 'before' })
if not e.desired then return { 'not_found' } end
if tonumber(e.delivered or 0) > tonumber(version) then return { 'repeated' } end

local opens = string.match(entry, '^opening:(.+)$')
local threadless = opens and exec('HGET', key.run(opens), 'thread_ts') == ''

exec('HSET', key.entry(entry), 'delivered', version)
-- A matter that came up anew meanwhile is told in another message.
if ts ~= e.before then exec('HSET', key.entry(entry), 'channel', channel, 'ts', ts) end
exec('HDEL', key.entry(entry), 'sending', 'sender', 'error', 'attempts', 'told_elsewhere')
exec('HSET', key.reached, channel, int(NOW), 'any', int(NOW))
if tonumber(version) >= tonumber(e.desired) then
  exec('ZREM', key.outbox, entry)
  exec('ZREM', key.owed, entry)
else
  exec('ZADD', key.outbox, int(NOW), entry)
  exec('ZADD', key.owed, 'XX', int(NOW), entry)
end
if threadless then
  exec('HSET', key.run(opens), 'thread_ts', ts)
  exec('SET', key.thread(channel, ts), opens)
end
return { 'ok' }
