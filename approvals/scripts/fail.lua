-- The effect provably did not happen; its caps are given back. Settles an unknown call too. Where somebody has said
-- that it did, ops is told.
-- KEYS[1] the tenant's prefix
-- ARGV    call, token, reason
-- Answers ok | repeated | lease_lost | wrong_state {state} | not_found
local call, token, reason = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.token ~= token then return { 'lease_lost' } end
if c.state == 'failed' then return { 'repeated' } end
if c.state == 'succeeded' and not c.late_word then contradict(c, 'failed', 'reason', reason) end
if c.state ~= 'executing' and c.state ~= 'unknown' then return { 'wrong_state', 'state', c.state } end

local late = c.state == 'unknown'
record_call(late and 'settled' or 'failed', c, 'cause', late and 'failed' or '', 'reason', reason)
become(c, 'failed', 'reason', reason)
if late then owe_again('call:' .. c.id) end
return { 'ok' }
