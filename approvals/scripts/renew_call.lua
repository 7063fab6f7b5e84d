-- Keeps a claim for another while.
-- KEYS[1] the tenant's prefix
-- ARGV    call, token, ttl (ms)
-- Answers ok | lease_lost
local call, token, ttl = unpack(ARGV)
local c = load_call(call)
if c.state ~= 'executing' or c.token ~= token or tonumber(c.lease_until) <= NOW then return { 'lease_lost' } end

exec('HSET', key.call(c.id), 'lease_until', int(NOW + ttl))
set_deadline('lease', c.id, NOW + ttl)
return { 'ok' }
