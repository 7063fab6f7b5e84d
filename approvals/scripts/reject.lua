-- One reviewer's no, which settles the call, also while an edit is checked.
-- KEYS[1] the tenant's prefix
-- ARGV    call, version, reviewer, name, decision, snapshot, generation, reason, correction, then pairs of
--         place, sentence: vetoed, or open for one new proposal when a correction is asked for
-- Answers ok {verdict} | repeated {verdict, missing, state} | already_decided {by, name, at, verdict, state}
--         | expired {decide_by} | stale_version {version, generation} | not_found | not_pending {state} | not_posted
--         | stale_person {user} | requester
local arg = reader(ARGV) -- more arguments than `unpack` takes, when a call touches thousands of things
local call, version, reviewer, name, decision = arg(), arg(), arg(), arg(), arg()
local snapshot, generation, reason, correction = arg(), arg(), arg(), arg()
local c = load_call(call)
local no = refusal(c, version, reviewer, 'reject', snapshot, generation)
if no then return no end

keep_decision(c, reviewer, decision)
exec('HSET', key.votes(c.id), reviewer, 'reject ' .. int(NOW) .. ' ' .. name)
local thread = read(key.run(c.run), { 'channel', 'thread_ts' })
local vetoes = key.vetoes(thread.channel, thread.thread_ts)
local corrections = key.corrections(thread.channel, thread.thread_ts)
local to, from = vetoes, corrections
if correction == '1' then to, from = corrections, vetoes end
for i = 10, c.canary and 9 or #ARGV, 2 do -- whoever catches a canary has refused nothing that anybody wants
  exec('HSET', to, ARGV[i], ARGV[i + 1])
  exec('HDEL', from, ARGV[i])
end
record_call(c.canary and 'canary_caught' or 'rejected', c, 'actor', reviewer, 'name', name, 'cause', 'person',
  'reason', reason, 'decide_by', int(decide_by(c)))
become(c, 'rejected', 'cause', 'person', 'reason', reason, 'decided_by', reviewer, 'decided_name', name,
  'decided_at', int(NOW), 'decided_verdict', 'reject')
return { 'ok', 'verdict', 'rejected' }
