-- Tells ops of a matter, unless it was told and nothing has changed since.
-- KEYS[1] the tenant's prefix
-- ARGV    subject, place (a channel, or any: of whose messages it is; or empty)
-- Answers ok | repeated
local subject, place = unpack(ARGV)
if not owe_once(subject, place) then return { 'repeated' } end
return { 'ok' }
