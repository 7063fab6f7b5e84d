-- Prelude 5 of 7: checks and moves that several verbs share.
local PERSON_AGE = 60 * 1000
local LEAST_TIME = 2 * MINUTE

-- Until when this call may be decided: its batch's instant, or a little later while an edit is checked.
local function decide_by(c)
  local by = tonumber(exec('HGET', key.batch(c.batch), 'decide_by') or nil)
  return by and math.max(by, tonumber(c.check_by or 0))
end

-- True unless the stored snapshot is the one the caller looked at, fresh, and of a full member of the home team.
local function stale(user, snapshot)
  local person = read(key.person(user), { 'json', 'fetched_at', 'full', 'team' })
  local age = NOW - tonumber(person.fetched_at or 0)
  local fresh = person.json == snapshot and age >= 0 and age <= PERSON_AGE -- a clock may have been set back
  return not (fresh and person.full == '1' and person.team == exec('HGET', key.switches, 'home_team'))
end

-- The server process this script runs in, and the history of writes it has: another process after a restart, another
-- history once it followed a primary, which may have known less, or was promoted itself.
local function this_server()
  local told = exec('INFO', 'server') .. exec('INFO', 'replication')
  return string.match(told, 'run_id:(%x+)') .. ':' .. string.match(told, 'master_replid:(%x+)')
end

-- True once this very server was compared with the ledger: one that came back may have forgotten what it did.
local function vouched() return exec('HGET', key.vouched, 'server') == this_server() end

local function holds_batch(batch, token, epoch)
  local b = read(key.batch(batch), { 'token', 'epoch', 'lease_until' })
  return b.token == token and b.epoch == epoch and tonumber(b.lease_until or 0) > NOW
end

local function holds_run(run, token, epoch)
  local r = read(key.run(run), { 'token', 'epoch', 'lease_until', 'state' })
  local driven = r.state == 'running' or r.state == 'resuming'
  return driven and r.token == token and r.epoch == epoch and tonumber(r.lease_until or 0) > NOW
end

local function decided_answer(c, by, name, at, verdict)
  return { 'already_decided', 'by', by, 'name', name, 'at', at, 'verdict', verdict, 'state', c.state }
end

-- How far the current version is: the verdict and how many approvals are missing.
local function standing(c)
  if c.state == 'rejected' then return 'rejected', '0' end
  if c.state ~= 'pending_review' then return 'approved', '0' end
  return 'pending', int(c.needed - exec('HLEN', key.votes(c.id)))
end

-- Why this decision does not count, as an answer; nil when it does.
local function refusal(c, version, reviewer, verdict, snapshot, generation)
  if not c.state then return { 'not_found' } end
  local vote = exec('HGET', key.votes(c.id), reviewer)
  if vote and version == c.version then
    local word, at, name = string.match(vote, '^(%S+) (%S+) (.*)$')
    if word ~= verdict then return decided_answer(c, reviewer, name, at, word) end
    local so_far, missing = standing(c)
    return { 'repeated', 'verdict', so_far, 'missing', missing, 'state', c.state }
  end
  if c.state ~= 'pending_review' then
    if c.decided_by then
      return decided_answer(c, c.decided_by, c.decided_name, c.decided_at, c.decided_verdict)
    end
    if c.state ~= 'expired' then return { 'not_pending', 'state', c.state } end
    return { 'expired', 'decide_by', int(decide_by(c) or 0) }
  end
  local b = read(key.batch(c.batch), { 'posted_at', 'generation' })
  if not b.posted_at then return { 'not_posted' } end
  if version ~= c.version or (generation and generation ~= '' and generation ~= b.generation) then
    return { 'stale_version', 'version', c.version, 'generation', b.generation }
  end
  if NOW >= decide_by(c) then return { 'expired', 'decide_by', int(decide_by(c)) } end
  if c.refreshing and verdict ~= 'reject' then return { 'refreshing' } end
  if stale(reviewer, snapshot) then return { 'stale_person', 'user', reviewer } end
  if reviewer == exec('HGET', key.run(c.run), 'requester') and exec('HGET', key.switches, 'self_approval') ~= '1' then
    return { 'requester' }
  end
end

-- A canary that was approved by as many as it takes is rejected instead: it is never approved, so it can never run.
local function miss(c, reviewer, name)
  record_call('canary_missed', c, 'actor', reviewer, 'name', name, 'cause', 'canary', 'decide_by', int(decide_by(c)))
  become(c, 'rejected', 'cause', 'canary', 'decided_by', reviewer, 'decided_name', name, 'decided_at', int(NOW),
    'decided_verdict', 'approve')
  return { 'ok', 'verdict', 'rejected', 'missing', '0' }
end

-- Count one approval of the current version; enough of them approve the call.
local function count_approval(c, reviewer, name, decision)
  keep_decision(c, reviewer, decision)
  exec('HSET', key.votes(c.id), reviewer, 'approve ' .. int(NOW) .. ' ' .. name)
  local missing = c.needed - exec('HLEN', key.votes(c.id))
  if missing > 0 then
    step_back(c.batch)
    record_call('approval_counted', c, 'actor', reviewer, 'name', name, 'decide_by', int(decide_by(c)))
    show(c)
    show_directly(c.batch)
    return { 'ok', 'verdict', 'pending', 'missing', int(missing) }
  end
  if c.canary then return miss(c, reviewer, name) end
  record_call('approved', c, 'actor', reviewer, 'name', name, 'decide_by', int(decide_by(c)))
  become(c, 'approved', 'decided_by', reviewer, 'decided_name', name, 'decided_at', int(NOW),
    'decided_verdict', 'approve')
  return { 'ok', 'verdict', 'approved', 'missing', '0' }
end

-- An approval went stale. What people had approved did not happen then, so ops is told, in one message for each batch.
local function lapse(c, reason)
  record_call('lapsed', c, 'reason', reason)
  become(c, 'expired', 'cause', 'lapsed', 'reason', reason)
  if c.carded then owe('alert', 'lapse:' .. c.batch) end
  return { 'lapsed', 'execute_by', c.execute_by or '' }
end

-- Taken back by whoever asked for it: a withdrawn call is no refusal by a reviewer, and makes no veto.
local function withdraw(c, by, name)
  record_call('withdrawn', c, 'actor', by, 'name', name, 'cause', 'withdrawn')
  become(c, 'rejected', 'cause', 'withdrawn', 'decided_by', by, 'decided_name', name, 'decided_at', int(NOW),
    'decided_verdict', 'withdraw')
end

-- What a worker gives back after its run was cancelled is asked of nobody any more.
local function withdraw_if_cancelled(c)
  local r = read(key.run(c.run), { 'cancelled_by', 'cancelled_name' })
  if r.cancelled_by then withdraw(c, r.cancelled_by, r.cancelled_name or r.cancelled_by) end
end

-- Back to approved before any intent: nothing happened. The batch is taken up again at once; `quietly`, when whoever
-- holds it finds the call left over on giving it back.
local function unclaim(c, reason, quietly)
  record_call('unclaimed', c, 'reason', reason)
  exec('HDEL', key.call(c.id), 'token', 'lease_until', 'claimed_at')
  become(c, 'approved', 'last_token', c.token)
  set_deadline('lapse', c.id, c.execute_by)
  if not quietly then
    exec('HINCRBY', key.batch(c.batch), 'generation', 1)
    wake('execute_batch', c.batch)
  end
  withdraw_if_cancelled(c)
  return { 'ok' }
end

-- What others than this call hold of a cap at this place.
local function held_by_others(place, id)
  local sum, held = 0, exec('HGETALL', place)
  for n = 1, #held, 2 do
    if held[n] ~= id then sum = sum + held[n + 1] end
  end
  return sum
end

-- Until when what is begun now may be at work by its own time limit. A worker that is still there keeps saying so.
local function at_work(subject, longest_ms, present_ms)
  exec('SET', key.at_work(subject), '1', 'PX', present_ms)
  return int(NOW + longest_ms)
end

-- Nobody can tell: asked of the tool, and then of ops, three minutes after an orphan must have ended at the latest. The
-- run hears "unknown" 25 h after the posting at the latest.
local function abandon(c, reason)
  local since = tonumber(exec('HGET', key.batch(c.batch), 'posted_at') or c.created_at)
  record_call('unknown', c, 'reason', reason)
  become(c, 'unknown', 'reason', reason)
  set_deadline('unknown', c.id, math.max(NOW + HOUR, since + DAY + HOUR))
  local ended = exec('HGET', key.call(c.id), 'at_work_until') or NOW
  set_deadline('unknown-alert', c.id, math.max(NOW, ended) + 3 * MINUTE)
  wake('reconcile_call', c.id)
  return { 'ok' }
end

-- When a call must be decided at the latest, so that all its time is over 24 hours after the posting.
local function last_decision(b, c) return tonumber(b.posted_at or c.created_at) + DAY - b.lapse_s * 1000 end

-- The next arguments as a list, which is led by its length.
local function listed(arg)
  local list = {}
  for n = 1, tonumber(arg()) do list[n] = arg() end
  return list
end

-- An answer when these cards would notify somebody more often than `limit` times within an hour, else nil.
local function overheard(batches, limit)
  local times = {}
  for _, b in ipairs(batches) do
    for _, id in ipairs(b.notify) do
      times[id] = times[id] or exec('ZCOUNT', key.heard(id), '(' .. int(NOW - HOUR), '+inf')
      if times[id] >= tonumber(limit) then
        return { 'cap_reached', 'cap', 'interruptions per hour', 'key', id, 'limit', limit, 'used', int(times[id]) }
      end
      times[id] = times[id] + 1
    end
  end
end

-- A card counts once for everybody it notifies; what comes back to it later counts no more.
local function notify(b)
  for _, id in ipairs(b.notify) do
    exec('ZREMRANGEBYSCORE', key.heard(id), '-inf', int(NOW - HOUR))
    exec('ZADD', key.heard(id), int(NOW), b.id)
    exec('EXPIRE', key.heard(id), 2 * 3600) -- its hour is long over then
    exec('HSET', key.told, id, int(NOW))
    tally('interruptions', 1)
  end
end

-- A waiting card once more, to whoever was not interrupted more often than `limit` times within the hour: users by a
-- direct message, usergroups whose members nobody knows by a mention in the thread, for which the field keeps them.
local function tell_directly(batch, ids, limit, field)
  local groups = {}
  for _, id in ipairs(ids) do
    if exec('ZCOUNT', key.heard(id), '(' .. int(NOW - HOUR), '+inf') < tonumber(limit) then
      notify({ id = 'again:' .. batch, notify = { id } })
      if string.sub(id, 1, 1) == 'S' then
        groups[#groups + 1] = id
      else
        exec('SADD', key.batch_told(batch), id)
        owe('direct', batch .. ':' .. id, id)
      end
    end
  end
  exec('HSET', key.batch(batch), field, table.concat(groups, ' '))
end

-- What else a pause brings: ops is told of each matter, tools are withdrawn for an hour, and where the one new
-- proposal that a rejection allowed is made now, the rejection is a veto from now on.
local function follow(run, alerts, withdrawn, places)
  for _, subject in ipairs(alerts) do owe_once(subject, '') end
  for _, tool in ipairs(withdrawn) do exec('HSET', key.withdrawn, tool, int(NOW + HOUR)) end
  local thread = read(key.run(run), { 'channel', 'thread_ts' })
  local open = key.corrections(thread.channel, thread.thread_ts)
  for _, place in ipairs(places) do
    local sentence = exec('HGET', open, place)
    if sentence then
      exec('HSET', key.vetoes(thread.channel, thread.thread_ts), place, sentence)
      exec('HDEL', open, place)
    end
  end
end

-- A batch as the pause writes it; its card, if it has one, is to stand in Slack within the hour.
local function add_batch(b, run, pause, channel)
  put(key.batch(b.id), 'run', run, 'pause', pause, 'radius', b.radius, 'number', b.number, 'has_card',
    b.has_card, 'ttl_s', b.ttl_s, 'lapse_s', b.lapse_s, 'generation', 0, 'epoch', 0, 'post_by', int(NOW + HOUR),
    'notify', table.concat(b.notify, ' '), 'quiet', b.quiet)
  notify(b)
  exec('RPUSH', key.pause_batches(run, pause), b.id)
  for _, id in ipairs(b.calls) do exec('RPUSH', key.batch_calls(b.id), id) end
  if b.has_card == '1' then
    owe('card', b.id, channel)
    set_deadline('post', b.id, NOW + HOUR)
  end
end

-- A call as the pause writes it, in the state the law gave it; an automatic decision is in the ledger like any other.
local function add_call(c, carded)
  put(key.call(c.id), 'run', c.run, 'batch', c.batch, 'pause', c.pause, 'number', c.number, 'sdk_id', c.sdk_id,
    'agent', c.agent, 'tool', c.tool, 'state', c.state, 'version', c.version, 'content', c.content, 'seal', c.seal,
    'cause', c.cause, 'reason', c.reason, 'held', c.held, 'needed', c.needed, 'carded', carded, 'created_at', int(NOW),
    'law', c.law, 'tier', c.tier, 'canary', c.canary or '')
  exec('RPUSH', key.pause_calls(c.run, c.pause), c.id)
  record_call('proposed', c, 'mode', c.mode, 'radius', c.radius, 'state', c.state, 'kept', c.kept)
  if c.state == 'rejected' then
    exec('HSET', key.call(c.id), 'ended_at', int(NOW))
    record_call('rejected', c, 'actor', 'policy', 'cause', c.cause, 'reason', c.reason)
    return
  end
  exec('SADD', key.unanswered(c.run, c.pause), c.id)
  count_state(c.state, 1)
  if c.counts ~= '' then exec('HSET', key.counts(c.run), c.id, c.counts) end
  if c.state == 'approved' then record_call('approved', c, 'actor', 'policy', 'reason', c.reason) end
  if c.state == 'pending_review' then enter_review(c) end
end

-- What ops is told of one of the reasons for a freeze.
local function frozen_subject(n, at) return 'switch:frozen:' .. at .. ':' .. int(n) end

-- Why everything is frozen, the first reason first. Version 0.1 knew only one, and had one message for all freezes.
local function freezes()
  local found = {}
  for n = 1, tonumber(exec('HGET', key.frozen, 'count') or nil) or exec('EXISTS', key.frozen) do
    local suffix = n == 1 and '' or ':' .. int(n)
    local row = exec('HMGET', key.frozen, 'by' .. suffix, 'reason' .. suffix, 'at' .. suffix, 'guard' .. suffix)
    local subject = row[4] and frozen_subject(n, row[3]) or 'switch:frozen'
    found[n] = { by = row[1], reason = row[2], guard = row[4] or (row[1] == 'vobo' and '1' or '0'), subject = subject }
  end
  return found
end
