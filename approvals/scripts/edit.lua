-- One reviewer's changed arguments: the next version, which nobody can approve before a worker has checked it.
-- Earlier approvals fall. The call may be decided for at least two more minutes, its siblings not longer than before,
-- and nothing later than 24 hours after the posting.
-- KEYS[1] the tenant's prefix
-- ARGV    call, version, reviewer, name, decision, snapshot, approval (of the next version), print (of the arguments),
--         content (encrypted), kept (for the ledger)
-- Answers ok {version} | repeated {version} | already_decided {by, name, at, verdict, state} | expired {decide_by}
--         | stale_version {version, generation} | not_found | not_pending {state} | not_posted | refreshing
--         | stale_person {user} | requester
local call, version, reviewer, name, decision, snapshot, approval, print, content, kept = unpack(ARGV)
local c = load_call(call)
if c.edit_by == reviewer and c.edit_from == version and c.edit_print == print then
  return { 'repeated', 'version', int(version + 1) }
end
local no = refusal(c, version, reviewer, 'edit', snapshot, '')
if no then return no end
if c.canary then return { 'not_pending', 'state', c.state } end -- nothing of it can be changed

keep_decision(c, reviewer, decision)
exec('DEL', key.votes(c.id))
forget_look(c)
local check_by = math.min(NOW + LEAST_TIME, last_decision(read(key.batch(c.batch), { 'posted_at', 'lapse_s' }), c))
exec('HSET', key.call(c.id), 'refreshing', '1', 'check_by', int(check_by), 'edit_by', reviewer,
  'edit_name', name, 'edit_from', version, 'edit_print', print, 'edit_approval', approval)
c.version, c.seal = int(version + 1), ''
record_call('edited', c, 'actor', reviewer, 'name', name, 'decide_by', int(decide_by(c)), 'kept', kept)
wake('refresh_call', c.id)
become(c, 'pending_review', 'version', c.version, 'content', content, 'seal', '')
return { 'ok', 'version', c.version }
