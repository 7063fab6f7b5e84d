-- A batch's card stands in Slack. The first time its calls become decidable: decide_by = now + ttl, such that ttl and
-- lapse end within 24 hours of this moment. Where too few were awake to be told, the next tier is due at once.
-- KEYS[1] the tenant's prefix
-- ARGV    batch, channel, ts
-- Answers ok {decide_by} | repeated {decide_by} | not_found
local batch, channel, ts = unpack(ARGV)
local b = read(key.batch(batch), { 'run', 'posted_at', 'decide_by', 'ts', 'ttl_s', 'lapse_s', 'quiet' })
if not b.run then return { 'not_found' } end
if b.ts == ts then return { 'repeated', 'decide_by', b.decide_by } end

local by = tonumber(b.decide_by or NOW + math.min(b.ttl_s * 1000, DAY - b.lapse_s * 1000))
exec('HSET', key.batch(batch), 'channel', channel, 'ts', ts, 'decide_by', int(by), 'posted_at', b.posted_at or int(NOW))
drop_deadline('post', batch)
if not b.posted_at then
  if exec('SCARD', key.batch_open(batch)) > 0 then
    set_deadline('decide', batch, by)
    set_reminders(batch, by)
    if b.quiet == '1' then set_deadline('escalate', batch, NOW) end
  end
  to_inbox(batch)
  record('posted', 'run', b.run, 'batch', batch)
  owe('card', batch, channel)
end
return { 'ok', 'decide_by', int(by) }
