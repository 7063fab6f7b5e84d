-- Lets effects happen again.
-- KEYS[1] the tenant's prefix
-- ARGV    by, reason
-- Answers ok | repeated
local by, reason = unpack(ARGV)
if exec('DEL', key.frozen) == 0 then return { 'repeated' } end

record('unfrozen', 'actor', by, 'reason', reason)
owe('alert', 'switch:frozen')
return { 'ok' }
