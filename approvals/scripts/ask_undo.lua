-- A person wants back what a call did. Where the call needed several people, or the law does now, so does this. What
-- a late receipt proves to be undone is `contradicted`: it is not asked for again.
-- KEYS[1] the tenant's prefix
-- ARGV    call, seal (of the undo), user, name, snapshot, how (the law's sentence), people (as the law asks now), mark
-- Answers ok {state, missing} | repeated {state, missing} | already_decided {by, name, at, state} | frozen
--         | wrong_state {state} | stale_person {user} | requester | not_found
local call, seal, user, name, snapshot, how, people, mark = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.state ~= 'succeeded' then return { 'wrong_state', 'state', c.state } end
local u = load_undo(c)
local voted = exec('HEXISTS', key.undo_votes(call), user) == 1
local joins = u.state == 'wanted' and u.seal == seal and tonumber(u.execute_by) > NOW
if u.state and u.state ~= 'failed' and u.state ~= 'wanted' then
  if voted then return { 'repeated', 'state', u.state, 'missing', '0' } end
  return { 'already_decided', 'by', u.by, 'name', u.name, 'at', u.at, 'state', u.state }
end
if u.late_receipt then
  return { 'already_decided', 'by', u.by, 'name', u.name, 'at', u.at, 'state', 'contradicted' }
end
local needed = undo_needs(c, people)
if joins and voted and undo_missing(c, needed) > 0 then
  return { 'repeated', 'state', u.state, 'missing', int(undo_missing(c, needed)) }
end
if exec('EXISTS', key.frozen) == 1 then return { 'frozen' } end
if stale(user, snapshot) then return { 'stale_person', 'user', user } end
local own = user == exec('HGET', key.run(c.run), 'requester')
if own and c.carded and exec('HGET', key.switches, 'self_approval') ~= '1' then return { 'requester' } end

if not joins then exec('DEL', key.undo_votes(call)) end
exec('HSET', key.undo_votes(call), user, int(NOW) .. ' ' .. mark .. ' ' .. name)
local missing = undo_missing(c, needed)
local state, names = missing > 0 and 'wanted' or 'asked', joins and (voted and u.name or u.name .. ', ' .. name) or name
record_call('undo_' .. state, c, 'actor', user, 'name', name, 'reason', how)
set_deadline('undo', c.id, NOW + UNDO_TIME)
undo_becomes(c, u, state, 'seal', seal, 'by', user, 'name', names, 'at', int(NOW), 'execute_by', int(NOW + UNDO_TIME),
  'missing', int(missing), 'token', '', 'last_token', '', 'lease_until', '', 'intended', '', 'reason', '',
  'ended_at', '', 'settled_by', '', 'marked_by', '', 'marked_as', '')
return { 'ok', 'state', state, 'missing', int(missing) }
