-- One more version of a message is owed.
-- KEYS[1] the tenant's prefix
-- ARGV    kind, subject, channel
-- Answers ok
local kind, subject, channel = unpack(ARGV)
owe(kind, subject, channel)
return { 'ok' }
