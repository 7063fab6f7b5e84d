-- Takes one approved call for one execution: every check that must hold at this moment, and its caps.
-- KEYS[1] the tenant's prefix
-- ARGV    call, batch, batch_token, epoch, token, seal, version, ttl (ms); number of people, then user, snapshot for
--         each; number of places read, then place, what others held of it for each; number of amounts, then place,
--         minor, limit, cap, key for each
-- Answers ok {version, lease_until} | repeated {version, lease_until} | frozen | lease_lost | not_found
--         | wrong_state {state} | lapsed {execute_by} | stale_version {version} | stale_person {user}
--         | caps_moved | cap_reached {cap, key, limit, used}
local arg = reader(ARGV)
local call, batch, batch_token, epoch, token, seal = arg(), arg(), arg(), arg(), arg(), arg()
local version, ttl = arg(), arg()
local c = load_call(call)
if exec('EXISTS', key.frozen) == 1 or not vouched() then return { 'frozen' } end
if not c.state then return { 'not_found' } end
if c.batch ~= batch or not holds_batch(batch, batch_token, epoch) then return { 'lease_lost' } end
if c.state == 'executing' and c.token == token then
  return { 'repeated', 'version', c.version, 'lease_until', c.lease_until }
end
if c.canary then return { 'wrong_state', 'state', c.state } end
if c.state ~= 'approved' or not c.execute_by then return { 'wrong_state', 'state', c.state } end
if tonumber(c.execute_by) <= NOW then return lapse(c, 'not executed in time') end
if held_back(c.run, c.pause) then return { 'wrong_state', 'state', c.state } end
if c.version ~= version or c.seal ~= seal then return { 'stale_version', 'version', c.version } end

local snapshots, votes = {}, exec('HKEYS', key.votes(c.id))
for _ = 1, tonumber(arg()) do
  local user = arg()
  snapshots[user] = arg()
end
if c.carded and #votes < tonumber(c.needed) then return { 'wrong_state', 'state', c.state } end
for _, user in ipairs(votes) do
  if not snapshots[user] or stale(user, snapshots[user]) then return { 'stale_person', 'user', user } end
end
for _ = 1, tonumber(arg()) do -- of two that were judged by the same amounts, the second is judged again
  if held_by_others(arg(), c.id) ~= tonumber(arg()) then return { 'caps_moved' } end
end
local takes = {}
for i = 1, tonumber(arg()) do
  local take = { place = arg(), minor = arg(), limit = arg(), cap = arg(), key = arg() }
  local used = held_by_others(take.place, c.id)
  if used + take.minor > tonumber(take.limit) then
    if surely_held(take.place) + take.minor <= tonumber(take.limit) then return { 'caps_moved' } end
    return { 'cap_reached', 'cap', take.cap, 'key', take.key, 'limit', take.limit, 'used', int(used) }
  end
  takes[i] = take
end

for _, take in ipairs(takes) do
  exec('HSET', take.place, c.id, take.minor)
  exec('RPUSH', key.spent(c.id), take.place)
  if string.find(take.place, ':day%-') then exec('EXPIRE', take.place, 8 * 24 * 3600) end -- its day is long over then
end
record_call('claimed', c)
become(c, 'executing', 'token', token, 'claimed_at', int(NOW), 'lease_until', int(NOW + ttl), 'intended', '')
set_deadline('lease', c.id, NOW + ttl)
return { 'ok', 'version', c.version, 'lease_until', int(NOW + ttl) }
