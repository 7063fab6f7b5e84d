-- Becomes, or stays, the one relay that sends.
-- KEYS[1] the tenant's prefix
-- ARGV    token, ttl (ms)
-- Answers ok | lease_lost
local token, ttl = unpack(ARGV)
local leader = read(key.lead, { 'token', 'until' })
if leader.token and leader.token ~= token and tonumber(leader['until']) > NOW then return { 'lease_lost' } end

exec('HSET', key.lead, 'token', token, 'until', int(NOW + ttl))
return { 'ok' }
