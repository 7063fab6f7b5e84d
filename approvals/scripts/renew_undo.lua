-- Keeps the claim of an undo for another while.
-- KEYS[1] the tenant's prefix
-- ARGV    call, token, ttl (ms)
-- Answers ok | lease_lost
local call, token, ttl = unpack(ARGV)
local c = load_call(call)
local u = load_undo(c)
if u.state ~= 'executing' or u.token ~= token or tonumber(u.lease_until) <= NOW then return { 'lease_lost' } end

set_undo(c, 'lease_until', int(NOW + ttl))
set_deadline('undo', c.id, NOW + ttl)
return { 'ok' }
