-- Stops every claim and intent. Decisions go on.
-- KEYS[1] the tenant's prefix
-- ARGV    by, reason
-- Answers ok | repeated
local by, reason = unpack(ARGV)
if exec('EXISTS', key.frozen) == 1 then return { 'repeated' } end

exec('HSET', key.frozen, 'by', by, 'reason', reason, 'at', int(NOW))
record('frozen', 'actor', by, 'reason', reason)
owe('alert', 'switch:frozen')
return { 'ok' }
