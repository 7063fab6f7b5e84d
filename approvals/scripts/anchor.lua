-- An anchor of the ledger was signed: ops is told once, and how many there are is remembered where SQL is not.
-- KEYS[1] the tenant's prefix
-- ARGV    number, subject
-- Answers ok | repeated
local number, subject = unpack(ARGV)
if exec('EXISTS', key.entry('alert:' .. subject)) == 1 then return { 'repeated' } end

local newest = math.max(tonumber(exec('HGET', key.vouched, 'anchors') or 0), tonumber(number))
exec('HSET', key.vouched, 'anchors', int(newest))
owe('alert', subject)
return { 'ok' }
