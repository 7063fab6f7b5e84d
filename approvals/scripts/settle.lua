-- Somebody, or the tool itself, knows what became of an unknown call.
-- KEYS[1] the tenant's prefix
-- ARGV    call, happened, by, reason, receipt (encrypted)
-- Answers ok {state} | repeated {state} | wrong_state {state} | not_found
local call, happened, by, reason, receipt = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
local state = happened == '1' and 'succeeded' or 'failed'
if c.state == state and exec('HGET', key.call(c.id), 'settled_by') == by then return { 'repeated', 'state', state } end
if c.state ~= 'unknown' then return { 'wrong_state', 'state', c.state } end

record_call('settled', c, 'actor', by, 'cause', state, 'reason', reason)
become(c, state, 'settled_by', by, 'reason', reason)
if receipt ~= '' then exec('HSET', key.call(c.id), 'receipt', receipt) end
owe_again('call:' .. c.id)
return { 'ok', 'state', state }
