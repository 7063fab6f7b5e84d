-- After the intent nobody can tell what became of the effect.
-- KEYS[1] the tenant's prefix
-- ARGV    call, token (empty: only once the lease is over), reason
-- Answers ok | repeated | lease_lost | wrong_state {state} | not_found
local call, token, reason = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.state == 'unknown' and (token == '' or token == c.token) then return { 'repeated' } end
if c.state ~= 'executing' or not c.intended then return { 'wrong_state', 'state', c.state } end
if token ~= c.token and (token ~= '' or tonumber(c.lease_until) > NOW) then return { 'lease_lost' } end

return abandon(c, reason)
