-- Takes a deadline out that can never matter (nobody comes after the tier that was asked).
-- KEYS[1] the tenant's prefix
-- ARGV    kind, subject
-- Answers ok
local kind, subject = unpack(ARGV)
drop_deadline(kind, subject)
return { 'ok' }
