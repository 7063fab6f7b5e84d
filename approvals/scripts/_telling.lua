-- Prelude 4 of 7: when ops is told of a matter anew, and when a card is no longer left to whoever is on it.
-- Ops is told more about a matter it was told about; what it never heard of needs no other word.
local function owe_again(alert)
  if exec('EXISTS', key.entry('alert:' .. alert)) == 1 then owe('alert', alert) end
end

-- Ops is told of a matter once. It comes up anew after somebody has seen to it; and where messages for a `place` were
-- refused, a day after it was told, if Slack has taken one there since. Then it is a new message: nobody is notified of
-- the old one's changes.
local function owe_once(subject, place)
  local name = key.entry('alert:' .. subject)
  local e = read(name, { 'desired', 'closed_at_version', 'told_at' })
  local since = tonumber(e.told_at or 0)
  local worked = tonumber(exec('HGET', key.reached, place) or 0) > since
  local seen = e.closed_at_version == e.desired -- both are absent of what was never told
  if not (seen or (worked and NOW - since >= DAY)) then return false end
  local ts = exec('HGET', name, 'ts')
  if ts then exec('HSET', name, 'before', ts) end
  exec('HDEL', name, 'channel', 'ts')
  owe('alert', subject)
  exec('HSET', name, 'told_at', int(NOW))
  return true
end

-- True when this reviewer has approved every call of the batch that still waits: nothing is left for them to do.
local function approved_all(batch, reviewer)
  for _, id in ipairs(exec('SMEMBERS', key.batch_open(batch))) do
    if exec('HEXISTS', key.votes(id), reviewer) == 0 then return false end
  end
  return true
end

-- Whoever is on it and can do no more is on it no longer. The others are reminded and the next tier is asked when they
-- would have been, or now when that is past.
function step_back(batch)
  local b = read(key.batch(batch), { 'on_it', 'remind_at', 'escalate_at' })
  if not b.on_it or not approved_all(batch, b.on_it) then return end
  exec('HDEL', key.batch(batch), 'on_it', 'on_it_name', 'remind_at', 'escalate_at')
  if b.remind_at then set_deadline('remind', batch, math.max(NOW, b.remind_at)) end
  if b.escalate_at then set_deadline('escalate', batch, math.max(NOW, b.escalate_at)) end
end
