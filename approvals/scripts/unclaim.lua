-- A claim that wrote no intent is undone: the call is approved as before and its caps are given back.
-- KEYS[1] the tenant's prefix
-- ARGV    call, token (empty: only once the lease is over)
-- Answers ok | repeated | lease_lost | wrong_state {state} | not_found
local call, token = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.state == 'approved' and c.last_token == token then return { 'repeated' } end
if c.state ~= 'executing' or c.intended then return { 'wrong_state', 'state', c.state } end
if token ~= c.token and (token ~= '' or tonumber(c.lease_until) > NOW) then return { 'lease_lost' } end

local held_until = tonumber(exec('HGET', key.batch(c.batch), 'lease_until') or 0)
return unclaim(c, '', token == c.token and held_until > NOW)
