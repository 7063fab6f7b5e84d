-- One reviewer's no, which settles the call, also while an edit is checked.
-- KEYS[1] the tenant's prefix
-- ARGV    call, version, reviewer, name, decision, snapshot, generation, reason, then pairs of vetoed place, sentence
-- Answers ok {verdict} | repeated {verdict, missing, state} | already_decided {by, name, at, verdict, state}
--         | expired {decide_by} | stale_version {version, generation} | not_found | not_pending {state} | not_posted
--         | stale_person {user} | requester
local call, version, reviewer, name, decision, snapshot, generation, reason = unpack(ARGV)
local c = load_call(call)
local no = refusal(c, version, reviewer, 'reject', snapshot, generation)
if no then return no end

keep_decision(c, decision)
exec('HSET', key.votes(c.id), reviewer, 'reject ' .. int(NOW) .. ' ' .. name)
local thread = read(key.run(c.run), { 'channel', 'thread_ts' })
for i = 9, #ARGV, 2 do exec('HSET', key.vetoes(thread.channel, thread.thread_ts), ARGV[i], ARGV[i + 1]) end
record_call('rejected', c, 'actor', reviewer, 'name', name, 'cause', 'person', 'reason', reason)
become(c, 'rejected', 'cause', 'person', 'reason', reason, 'decided_by', reviewer, 'decided_name', name,
  'decided_at', int(NOW), 'decided_verdict', 'reject')
return { 'ok', 'verdict', 'rejected' }
