-- Prelude 7 of 7: whether a worker finds something to do, what holds its caps for good, how long people waited for it,
-- what it gives back and what it proves too late.
-- Versions of a call that nobody was asked about: when it is different each time, it is not left to itself for ever.
local MOST_UNASKED = 10

-- True when a worker could do something with this batch now.
local function has_work(batch)
  local b = read(key.batch(batch), { 'run', 'pause' })
  local judged, held = not waits_for_people(b.run, b.pause), held_back(b.run, b.pause)
  for _, id in ipairs(exec('LRANGE', key.batch_calls(batch), 0, -1)) do
    local c = read(key.call(id), { 'state', 'execute_by' })
    local open = c.state == 'approved' and c.execute_by and not held
    if open or (c.state == 'proposed' and judged) then return true end
  end
  return false
end

-- What is held of a cap, but for calls that were claimed and are only looked at so far: they may never run.
local function surely_held(place)
  local sum, held = 0, exec('HGETALL', place)
  for n = 1, #held, 2 do
    local other = read(key.call(held[n]), { 'state', 'intended' })
    local looked_at = other.state == 'executing' and not other.intended
    if not looked_at then sum = sum + held[n + 1] end
  end
  return sum
end

-- From the click that made the call claimable, the last of its batch, to the receipt. Nobody clicked for an auto call.
local function observe_click(c)
  local lapse_s = exec('HGET', key.batch(c.batch), 'lapse_s')
  if c.carded then observe('click_to_effect', math.max(0, NOW - (c.execute_by - lapse_s * 1000))) end
end

-- What a worker proves, `late`, is not what was said of the call before: nothing is changed by it, and ops compares.
local function contradict(c, late, ...)
  exec('HSET', key.call(c.id), 'late_word', late)
  record_call('contradicted', c, 'cause', c.state, ...)
  exec('SADD', key.dead_letters, 'call:' .. c.id)
  owe('alert', 'call:' .. c.id)
end

-- The next version goes back to people, or to the law when nobody was asked; `kind` names it in the ledger.
local function send_back(c, kind, reason, version, content, seal, needed, counts, law, kept, tier)
  local b = read(key.batch(c.batch), { 'posted_at', 'ttl_s', 'lapse_s' })
  local last = last_decision(b, c)
  local by = math.min(NOW + b.ttl_s * 1000, last)
  local over
  if math.min(NOW + LEAST_TIME, NOW + b.ttl_s * 1000) > last then
    over = 'no time left for another decision within 24 hours'
  end
  if not c.carded and tonumber(version) > MOST_UNASKED then over = 'each time it was to run something was different' end
  if over then
    if c.state == 'executing' then unclaim(c, reason) end
    if c.state ~= 'approved' then return { 'wrong_state', 'state', c.state } end -- withdrawn with its run
    return lapse(c, over .. ': ' .. reason)
  end
  exec('DEL', key.votes(c.id))
  exec('HDEL', key.call(c.id), 'decided_by', 'decided_name', 'decided_at', 'decided_verdict', 'token', 'lease_until',
    'claimed_at')
  forget_look(c)
  if counts ~= '' then exec('HSET', key.counts(c.run), c.id, counts) else exec('HDEL', key.counts(c.run), c.id) end
  c.version, c.seal, c.law = version, seal, law
  record_call(kind, c, 'reason', reason, 'kept', kept)
  become(c, c.carded and 'pending_review' or 'proposed', 'version', version, 'content', content, 'seal', seal,
    'needed', needed, 'law', law, 'tier', tier)
  if c.carded then
    exec('HDEL', key.call(c.id), 'execute_by')
    exec('HINCRBY', key.batch(c.batch), 'generation', 1)
    exec('HSET', key.batch(c.batch), 'decide_by', int(by))
    exec('HDEL', key.batch(c.batch), 'on_it', 'on_it_name', 'remind_at', 'escalate_at')
    set_deadline('decide', c.batch, by)
    set_reminders(c.batch, by)
    to_inbox(c.batch)
  else -- it has the time it had, and is tried again when the batch is given back, not at once
    if c.execute_by then set_deadline('lapse', c.id, c.execute_by) end
    open_batch(c.batch)
  end
  withdraw_if_cancelled(c)
  return { 'ok', 'version', version, 'state', c.state }
end
