-- Takes an undo that was asked for, for one attempt: every check that must hold at this moment.
-- KEYS[1] the tenant's prefix
-- ARGV    call, token, seal, ttl (ms), needed (people, as the law asks now); number of people, then user, snapshot
--         for each
-- Answers ok {lease_until} | repeated {lease_until} | frozen | not_found | wrong_state {state} | lapsed {execute_by}
--         | stale_version {version} | stale_person {user}
local arg = reader(ARGV)
local call, token, seal, ttl, needed = arg(), arg(), arg(), arg(), arg()
local c = load_call(call)
if exec('EXISTS', key.frozen) == 1 or not vouched() then return { 'frozen' } end
if not c.state then return { 'not_found' } end
local u = load_undo(c)
if u.state == 'executing' and u.token == token then return { 'repeated', 'lease_until', u.lease_until } end
if u.state ~= 'asked' then return { 'wrong_state', 'state', u.state or c.state } end
if u.late_receipt then return { 'wrong_state', 'state', 'contradicted' } end
if tonumber(u.execute_by) <= NOW then
  undo_fails(c, u, 'it could not be begun in time')
  return { 'lapsed', 'execute_by', u.execute_by }
end
if u.seal ~= seal then return { 'stale_version', 'version', c.version } end
local snapshots, votes = {}, exec('HKEYS', key.undo_votes(call))
for _ = 1, tonumber(arg()) do
  local user = arg()
  snapshots[user] = arg()
end
if #votes < undo_needs(c, needed) then return { 'wrong_state', 'state', u.state } end
for _, user in ipairs(votes) do
  if stale(user, snapshots[user]) then return { 'stale_person', 'user', user } end
end

record_call('undo_claimed', c)
set_deadline('undo', c.id, NOW + ttl)
undo_becomes(c, u, 'executing', 'token', token, 'claimed_at', int(NOW), 'lease_until', int(NOW + ttl))
return { 'ok', 'lease_until', int(NOW + ttl) }
