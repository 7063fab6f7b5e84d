-- A message stands in Slack and shows this version; it stays owed while a newer one is desired. The opening of a run
-- that had no thread becomes its thread.
-- KEYS[1] the tenant's prefix
-- ARGV    entry, version, channel, ts
-- Answers ok | repeated | not_found
local entry, version, channel, ts = unpack(ARGV)
local e = read(key.entry(entry), { 'kind', 'desired', 'delivered', 'subject' })
if not e.kind then return { 'not_found' } end
if tonumber(e.delivered or 0) > tonumber(version) then return { 'repeated' } end

local threadless = e.kind == 'opening' and exec('HGET', key.run(e.subject), 'thread_ts') == ''

exec('HSET', key.entry(entry), 'delivered', version, 'channel', channel, 'ts', ts, 'attempts', 0)
exec('HDEL', key.entry(entry), 'sending', 'sender', 'error')
if tonumber(version) >= tonumber(e.desired) then
  exec('ZREM', key.outbox, entry)
  exec('ZREM', key.owed, entry)
else
  exec('ZADD', key.outbox, int(NOW), entry)
  exec('ZADD', key.owed, 'XX', int(NOW), entry)
end
if threadless then
  exec('HSET', key.run(e.subject), 'thread_ts', ts)
  exec('SET', key.thread(channel, ts), e.subject)
end
return { 'ok' }
