-- A message for ops that Slack does not take has reached them on another way.
-- KEYS[1] the tenant's prefix
-- ARGV    entry, version (that they were told)
-- Answers ok | not_found
local entry, version = unpack(ARGV)
if not exec('ZSCORE', key.outbox, entry) then return { 'not_found' } end

exec('HSET', key.entry(entry), 'told_elsewhere', version)
return { 'ok' }
