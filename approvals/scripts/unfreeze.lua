-- Lets effects happen again.
-- KEYS[1] the tenant's prefix
-- ARGV    by
-- Answers ok | repeated
local by = unpack(ARGV)
if exec('DEL', key.frozen) == 0 then return { 'repeated' } end

record('unfrozen', 'actor', by)
return { 'ok' }
