-- What is due to be enqueued, each put off until it is due again.
-- KEYS[1] the tenant's prefix
-- ARGV    limit, again (ms)
-- Returns a flat list of member, attempt
local limit, again = unpack(ARGV)
local found = {}
for _, member in ipairs(exec('ZRANGEBYSCORE', key.wakeups, '-inf', int(NOW), 'LIMIT', 0, limit)) do
  exec('ZADD', key.wakeups, int(NOW + again), member)
  found[#found + 1] = member
  found[#found + 1] = int(exec('HINCRBY', key.attempts, member, 1))
end
return found
