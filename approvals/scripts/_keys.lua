-- Prelude 1 of 7: every key, as approvals/keys.py builds it. KEYS[1] is the tenant's prefix.
local prefix = KEYS[1]
local key = {}
for _, name in ipairs({ 'outbox', 'wakeups', 'attempts', 'deadlines', 'ledger', 'lead', 'frozen', 'switches',
  'vouched', 'told', 'withdrawn', 'tallies', 'pending', 'waiting', 'owed', 'dead_letters',
  'reached', 'inbox_groups', 'watched' }) do
  key[name] = prefix .. name
end
function key.run(run) return prefix .. 'run:' .. run end
function key.saved(run) return key.run(run) .. ':saved' end
function key.counts(run) return key.run(run) .. ':counts' end
function key.pause_calls(run, pause) return prefix .. 'pause:' .. run .. ':' .. pause .. ':calls' end
function key.pause_batches(run, pause) return prefix .. 'pause:' .. run .. ':' .. pause .. ':batches' end
function key.pause_open(run, pause) return prefix .. 'pause:' .. run .. ':' .. pause .. ':open' end -- 0.1's
function key.unanswered(run, pause) return prefix .. 'pause:' .. run .. ':' .. pause .. ':unanswered' end
function key.batch(batch) return prefix .. 'batch:' .. batch end
function key.batch_calls(batch) return key.batch(batch) .. ':calls' end
function key.batch_open(batch) return key.batch(batch) .. ':open' end
function key.batch_told(batch) return key.batch(batch) .. ':told' end
function key.call(call) return prefix .. 'call:' .. call end
function key.votes(call) return key.call(call) .. ':votes' end
function key.decisions(call) return key.call(call) .. ':decisions' end
function key.undo_votes(call) return key.call(call) .. ':undo_votes' end
function key.deciders(call) return key.call(call) .. ':deciders' end
function key.spent(call) return key.call(call) .. ':spent' end
function key.at_work(subject) return prefix .. 'at_work:' .. subject end
function key.thread(channel, thread_ts) return prefix .. 'thread:' .. channel .. ':' .. thread_ts end
function key.vetoes(channel, thread_ts) return prefix .. 'vetoes:' .. channel .. ':' .. thread_ts end
function key.corrections(channel, thread_ts) return prefix .. 'corrections:' .. channel .. ':' .. thread_ts end
function key.heard(slack_id) return prefix .. 'heard:' .. slack_id end
function key.inbox(group, choice) return prefix .. 'inbox:' .. group .. ':' .. choice end
function key.inbox_radii(group) return prefix .. 'inbox_radii:' .. group end
function key.inbox_requesters(group) return prefix .. 'inbox_requesters:' .. group end
function key.decided(user) return prefix .. 'decided:' .. user end
function key.person(user) return prefix .. 'person:' .. user end
function key.members(group) return prefix .. 'members:' .. group end
function key.entry(entry) return prefix .. 'outbox:' .. entry end
function key.report(week) return prefix .. 'report:' .. week end
function key.report_lease(week) return key.report(week) .. ':lease' end
