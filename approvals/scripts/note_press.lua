-- Puts an operator's press that was refused into the ledger; changes nothing else.
-- KEYS[1] the tenant's prefix
-- ARGV    control, subject, by, name, reason
-- Answers ok
local control, subject, by, name, reason = unpack(ARGV)
record('press_refused', 'actor', by, 'name', name, 'cause', control, 'reason', subject .. ': ' .. reason)
return { 'ok' }
