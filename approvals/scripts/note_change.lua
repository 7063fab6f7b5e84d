-- What is in force has changed since it was last on record: said once in the ledger, whichever process finds it first.
-- KEYS[1] the tenant's prefix
-- ARGV    subject, before (as it was read; empty: nothing was on record), now, kind (of the event), then its
--         fields
-- Answers ok | repeated | wrong_state (another process was faster: read again)
local subject, before, now, kind = unpack(ARGV)
local field = 'known:' .. subject
local known = exec('HGET', key.switches, field) or ''
if known == now then return { 'repeated' } end
if known ~= before then return { 'wrong_state' } end

exec('HSET', key.switches, field, now)
record(kind, unpack(ARGV, 5))
return { 'ok' }
