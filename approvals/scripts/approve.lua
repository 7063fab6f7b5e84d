-- One reviewer's yes to one version of a call; enough of them approve it.
-- KEYS[1] the tenant's prefix
-- ARGV    call, version, reviewer, name, decision, snapshot, generation
-- Answers ok {verdict, missing} | repeated {verdict, missing, state} | already_decided {by, name, at, verdict, state}
--         | expired {decide_by} | stale_version {version, generation} | not_found | not_pending {state} | not_posted
--         | refreshing | stale_person {user} | requester
local call, version, reviewer, name, decision, snapshot, generation = unpack(ARGV)
local c = load_call(call)
local no = refusal(c, version, reviewer, 'approve', snapshot, generation)
if no then return no end

return count_approval(c, reviewer, name, decision)
