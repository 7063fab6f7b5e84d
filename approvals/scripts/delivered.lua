-- A message stands in Slack and shows this version; it stays owed while a newer one is desired.
-- KEYS[1] the tenant's prefix
-- ARGV    entry, version, channel, ts
-- Answers ok | repeated | not_found
local entry, version, channel, ts = unpack(ARGV)
local e = read(key.entry(entry), { 'kind', 'desired', 'delivered' })
if not e.kind then return { 'not_found' } end
if tonumber(e.delivered or 0) > tonumber(version) then return { 'repeated' } end

exec('HSET', key.entry(entry), 'delivered', version, 'channel', channel, 'ts', ts, 'attempts', 0)
exec('HDEL', key.entry(entry), 'sending', 'sender', 'error')
if tonumber(version) >= tonumber(e.desired) then
  exec('ZREM', key.outbox, entry)
else
  exec('ZADD', key.outbox, int(NOW), entry)
end
return { 'ok' }
