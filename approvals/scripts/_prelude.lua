-- Prelude 2 of 7: what one change brings with it. `become` is the only place where a call changes its state.
local exec = redis.call
local clock = exec('TIME')
local NOW = clock[1] * 1000 + math.floor(clock[2] / 1000)
local MINUTE, HOUR, DAY = 60 * 1000, 3600 * 1000, 24 * 3600 * 1000
local FINAL = { rejected = true, expired = true, succeeded = true, failed = true }

-- Integers as decimal text: Lua alone would write 1.7e+12.
local function int(number) return string.format('%.0f', number) end

-- Takes a list one by one: local arg = reader(ARGV); arg() is the first, arg() the second.
local function reader(list)
  local at = 0
  return function()
    at = at + 1
    return list[at]
  end
end

-- Some fields of a hash as a table; absent and empty ones are nil.
local function read(name, fields)
  local row, values = {}, exec('HMGET', name, unpack(fields))
  for i, field in ipairs(fields) do
    if values[i] and values[i] ~= '' then row[field] = values[i] end
  end
  return row
end

-- A new hash, without what is empty: very many of them wait at a time.
local function put(name, ...)
  local given, fields = { ... }, {}
  for n = 1, #given, 2 do
    if given[n + 1] ~= '' then
      fields[#fields + 1] = given[n]
      fields[#fields + 1] = given[n + 1]
    end
  end
  if #fields > 0 then exec('HSET', name, unpack(fields)) end
end

local CALL = { 'state', 'version', 'run', 'batch', 'pause', 'tool', 'seal', 'carded', 'needed', 'refreshing',
  'execute_by', 'check_by', 'token', 'last_token', 'lease_until', 'intended', 'decided_by', 'decided_name',
  'decided_at', 'decided_verdict', 'cause', 'reason', 'edit_by', 'edit_from', 'edit_print', 'created_at', 'law',
  'canary', 'late_word' }

local function load_call(id)
  local c = read(key.call(id), CALL)
  c.id = id
  return c
end

local function tally(field, by) exec('HINCRBY', key.tallies, field, by) end

-- Into the ledger, and counted by kind, cause and whether the law did it: never by who. What happens to a canary is
-- marked, and counts as nothing but that.
local function record(kind, ...)
  local told, of = { ... }, { cause = '', actor = '' }
  for i = 1, #told, 2 do of[told[i]] = told[i + 1] end
  if of.run and exec('HGET', key.run(of.run), 'canary') == '1' then
    exec('XADD', key.ledger, '*', 'type', kind, 'at', int(NOW), 'canary', '1', ...)
    if not string.find(kind, '^canary_') then return end
  else
    exec('XADD', key.ledger, '*', 'type', kind, 'at', int(NOW), ...)
  end
  tally('event:' .. kind .. ':' .. of.cause .. ':' .. (of.actor == 'policy' and 'policy' or ''), 1)
end

-- How many calls are in this state now. Only of those that may still change: the others leave with their run.
local function count_state(state, by)
  if not FINAL[state] then tally('state:' .. state, by) end
end

-- One measured duration, in the smallest bucket that holds it (metrics.py adds the buckets up).
local BUCKETS = { 250, 500, 1000, 2500, 5000, 10000, 30000, 60000, 300000, 3600000 }
local function observe(name, ms)
  local bucket = 'more'
  for i = #BUCKETS, 1, -1 do bucket = ms <= BUCKETS[i] and int(BUCKETS[i]) or bucket end
  tally('took:' .. name .. ':' .. bucket, 1)
  tally('took:' .. name .. ':sum', int(ms))
end

local function record_call(kind, c, ...)
  record(kind, 'run', c.run, 'batch', c.batch or '', 'call', c.id, 'tool', c.tool, 'version', c.version,
    'seal', c.seal or '', 'law', c.law or '', ...)
end

local function wake(job, argument) exec('ZADD', key.wakeups, int(NOW), job .. ':' .. argument) end

local function wake_again(job, argument, at) exec('ZADD', key.wakeups, int(at), job .. ':' .. argument) end

local function let_sleep(job, argument) exec('ZREM', key.wakeups, job .. ':' .. argument) end

-- The next version says what the data is now, so what a look at the one before found is over.
local function forget_look(c)
  exec('HDEL', key.call(c.id), 'looked_at', 'look_failed_at', 'drifted', 'drift_print')
  let_sleep('look_again', c.id)
end

local function set_deadline(kind, subject, at) exec('ZADD', key.deadlines, int(at), kind .. ':' .. subject) end

local function drop_deadline(kind, subject) exec('ZREM', key.deadlines, kind .. ':' .. subject) end

-- Half way to `by` those who were asked are reminded, after four fifths the next tier is added.
local function set_reminders(batch, by)
  set_deadline('remind', batch, NOW + math.floor((by - NOW) / 2))
  set_deadline('escalate', batch, NOW + math.floor((by - NOW) * 4 / 5))
end

local function drop_reminders(batch)
  drop_deadline('remind', batch)
  drop_deadline('escalate', batch)
end

-- NX: a message that Slack told us to hold back keeps its instant.
local function owe(kind, subject, channel)
  local id = kind .. ':' .. subject
  if channel and channel ~= '' then exec('HSETNX', key.entry(id), 'channel', channel) end
  exec('HINCRBY', key.entry(id), 'desired', 1)
  -- What ops reads on another way waits long for Slack; what is new about it does not.
  local elsewhere = exec('HEXISTS', key.entry(id), 'told_elsewhere') == 1
  exec('ZADD', key.outbox, elsewhere and 'LT' or 'NX', int(NOW), id)
  if kind ~= 'alert' then exec('ZADD', key.owed, 'NX', int(NOW), id) end -- alerts may have no channel, for ever
end

local function owe_in_thread(kind, subject, run) owe(kind, subject, exec('HGET', key.run(run), 'channel') or '') end

-- Direct messages about a card say what is left to do: they are updated in place, which interrupts nobody.
local function show_directly(batch)
  for _, user in ipairs(exec('SMEMBERS', key.batch_told(batch))) do owe('direct', batch .. ':' .. user) end
end

-- Everything that shows this call is rendered anew; the outcome table only once the run waits for nothing.
local to_inbox -- in _inbox.lua
local function show(c)
  if c.carded then
    owe_in_thread('card', c.batch, c.run)
    to_inbox(c.batch)
  end
  if exec('SCARD', key.unanswered(c.run, c.pause)) == 0 and not c.canary then
    owe_in_thread('outcome', c.run .. ':' .. c.pause, c.run)
  end
end

-- A run ends here and now, without its model being called again.
local function end_at_once(run, state, reason, by)
  local r = read(key.run(run), { 'state', 'channel' })
  exec('HSET', key.run(run), 'state', state, 'reason', reason, 'ended_at', int(NOW), 'ended_by', by,
    'ended_from', r.state)
  exec('HDEL', key.run(run), 'token', 'lease_until')
  let_sleep('start_run', run)
  let_sleep('resume_run', run)
  set_deadline('retire', run, NOW + 7 * DAY)
  record(state, 'run', run, 'reason', reason)
  owe('answer', run, r.channel)
  owe('opening', run, r.channel)
end

-- Nothing of a cancelled run is at work any more.
local function end_cancelled(run)
  end_at_once(run, 'stopped', 'cancelled by @' .. (exec('HGET', key.run(run), 'cancelled_name') or ''), 'cancel')
end

-- The run no longer waits for this call; the last one makes it ready, or ends it when it was cancelled.
local function answered(c)
  exec('SREM', key.unanswered(c.run, c.pause), c.id)
  local run = read(key.run(c.run), { 'state', 'pause', 'cancelled_by' })
  if exec('SCARD', key.unanswered(c.run, c.pause)) == 0 and run.state == 'paused' and run.pause == c.pause then
    if run.cancelled_by then return end_cancelled(c.run) end
    if c.canary then return end_at_once(c.run, 'completed', '', 'canary') end -- no model ever hears of it
    exec('HSET', key.run(c.run), 'state', 'ready')
    record('ready', 'run', c.run)
    wake('resume_run', c.run)
  end
end

-- True while any call of the pause waits for a person.
local function asks(run, pause)
  for _, batch in ipairs(exec('LRANGE', key.pause_batches(run, pause), 0, -1)) do
    if exec('SCARD', key.batch_open(batch)) > 0 then return true end
  end
  return false
end

-- True while the run waits for any call of the pause that people were asked about, whatever they said about it: what
-- they approved may still come back to them. Held calls wait for that.
local function waits_for_people(run, pause)
  for _, id in ipairs(exec('SMEMBERS', key.unanswered(run, pause))) do
    if exec('HGET', key.call(id), 'carded') == '1' then return true end
  end
  return false
end

-- True while the barrier "pause" holds back what was approved, since somebody is asked (again) in the same pause.
local function held_back(run, pause) return exec('HGET', key.run(run), 'barrier') == 'pause' and asks(run, pause) end

-- Approved calls of a batch may be claimed from now on; held ones are judged again, and neither for ever.
local function open_batch(batch)
  local b = read(key.batch(batch), { 'run', 'pause', 'lapse_s', 'has_card' })
  local judged, work, known = not waits_for_people(b.run, b.pause), false, false
  for _, id in ipairs(exec('LRANGE', key.batch_calls(batch), 0, -1)) do
    local c = read(key.call(id), { 'state', 'execute_by' })
    local opens = c.state == 'approved' or (c.state == 'proposed' and judged)
    if opens and not c.execute_by then
      local by = NOW + b.lapse_s * 1000
      exec('HSET', key.call(id), 'execute_by', int(by))
      set_deadline('lapse', id, by)
      work = true
    end
    known = known or opens
  end
  if work then
    exec('HINCRBY', key.batch(batch), 'generation', 1)
    if b.has_card == '1' then owe_in_thread('card', batch, b.run) end
  end
  if known then wake('execute_batch', batch) end -- it may have been held back until now
end

-- Open every batch of a pause that waits for nobody; with the barrier "pause", only when all of them do.
local function settle_pause(run, pause)
  if held_back(run, pause) then return end
  for _, batch in ipairs(exec('LRANGE', key.pause_batches(run, pause), 0, -1)) do
    if exec('SCARD', key.batch_open(batch)) == 0 then open_batch(batch) end
  end
end

-- The run waits for this call no more: held calls were judged last with it in mind.
local function no_longer_waited_for(c)
  if c.carded and not waits_for_people(c.run, c.pause) then settle_pause(c.run, c.pause) end
end

local function give_back_caps(id)
  for _, place in ipairs(exec('LRANGE', key.spent(id), 0, -1)) do exec('HDEL', place, id) end
  exec('DEL', key.spent(id))
end

local function radius_of(batch) return exec('HGET', key.batch(batch), 'radius') or '' end

local function enter_review(c)
  exec('SADD', key.batch_open(c.batch), c.id)
  exec('ZINCRBY', key.pending, 1, radius_of(c.batch))
  exec('ZADD', key.waiting, 'NX', int(NOW), c.batch)
end

local step_back -- in _telling.lua
local function leave_review(c)
  exec('ZINCRBY', key.pending, -1, radius_of(c.batch))
  exec('ZREMRANGEBYSCORE', key.pending, '-inf', 0)
  exec('HDEL', key.call(c.id), 'refreshing', 'check_by')
  exec('SREM', key.batch_open(c.batch), c.id)
  let_sleep('refresh_call', c.id)
  let_sleep('look_again', c.id)
  if exec('SCARD', key.batch_open(c.batch)) == 0 then
    drop_deadline('decide', c.batch)
    drop_deadline('post', c.batch)
    drop_reminders(c.batch)
    exec('ZREM', key.waiting, c.batch)
    settle_pause(c.run, c.pause)
  else
    step_back(c.batch)
  end
end

-- The call's new state, further fields of its hash, and every consequence. Callers have checked and recorded before.
local function become(c, state, ...)
  local was = c.state
  c.state = state
  exec('HSET', key.call(c.id), 'state', state, ...)
  count_state(was, -1)
  count_state(state, 1)
  if was == 'approved' or was == 'proposed' then drop_deadline('lapse', c.id) end
  if was == 'executing' then drop_deadline('lease', c.id) end
  if state == 'unknown' then exec('SADD', key.dead_letters, 'call:' .. c.id) end
  if was == 'unknown' then
    exec('SREM', key.dead_letters, 'call:' .. c.id)
    drop_deadline('unknown', c.id)
    drop_deadline('unknown-alert', c.id)
    let_sleep('reconcile_call', c.id)
  end
  if (was == 'executing' or was == 'unknown') and state ~= 'succeeded' and state ~= 'unknown' then
    give_back_caps(c.id)
  end
  if FINAL[state] then
    exec('HSET', key.call(c.id), 'ended_at', int(NOW))
    if state ~= 'succeeded' then exec('HDEL', key.counts(c.run), c.id) end
    answered(c)
  end
  if state == 'pending_review' and was ~= state then
    enter_review(c)
    show_directly(c.batch)
  elseif was == 'pending_review' and was ~= state then
    leave_review(c)
    show_directly(c.batch)
  elseif FINAL[state] then
    no_longer_waited_for(c)
  end
  show(c)
end
