-- An operator goes on with a ledger that lacks what was handed over: from now on it is compared with this head.
-- KEYS[1] the tenant's prefix
-- ARGV    was (the head that it lacks), head (the one it has), by, reason
-- Answers ok | repeated (it goes on with this head already) | wrong_state {state} (another head has been noted since)
local was, head, by, reason = unpack(ARGV)
local noted = exec('HGET', key.vouched, 'head') or ''
if noted == head then return { 'repeated' } end
if noted ~= was then return { 'wrong_state', 'state', noted } end

exec('HSET', key.vouched, 'head', head)
record('ledger_accepted', 'actor', by, 'was', was, 'head', head, 'reason', reason)
return { 'ok' }
