-- Prelude 6 of 7: taking back what a call did. `undo_becomes` is the only place where an undo changes its state.
-- To find a second person, and to begin: a word about how things are must act soon.
local UNDO_TIME = 10 * MINUTE
local UNDO = { 'state', 'seal', 'by', 'name', 'at', 'execute_by', 'token', 'last_token', 'lease_until', 'intended',
  'reason', 'settled_by', 'marked_by', 'marked_as', 'late_receipt' }

-- The undo of a call as a table; one that nobody asked for has no state.
local function load_undo(c)
  local names, u = {}, {}
  for n, name in ipairs(UNDO) do names[n] = 'undo_' .. name end
  local row = read(key.call(c.id), names)
  for n, name in ipairs(UNDO) do u[name] = row[names[n]] end
  return u
end

-- How many people must want it: as many as the call needed, and never fewer than the law asks now.
local function undo_needs(c, now) return math.max(c.carded and tonumber(c.needed) or 1, tonumber(now)) end

local function undo_missing(c, needed) return math.max(0, needed - exec('HLEN', key.undo_votes(c.id))) end

local function set_undo(c, ...)
  local given, fields = { ... }, {}
  for n = 1, #given, 2 do
    fields[n] = 'undo_' .. given[n]
    fields[n + 1] = given[n + 1]
  end
  exec('HSET', key.call(c.id), unpack(fields))
end

-- The undo's new state, further fields, and every consequence. The call keeps its own state whatever happens here.
local function undo_becomes(c, u, state, ...)
  set_undo(c, 'state', state, ...)
  u.state = state
  local dead = state == 'unknown' and 'SADD' or not u.late_receipt and 'SREM' -- ops alone closes a contradiction, once
  if dead then exec(dead, key.dead_letters, 'undo:' .. c.id) end
  if state == 'asked' or state == 'unknown' then wake('undo_call', c.id) else let_sleep('undo_call', c.id) end
  if state == 'undone' or state == 'failed' or state == 'unknown' then
    set_undo(c, 'ended_at', int(NOW))
    drop_deadline('undo', c.id)
    owe_in_thread('undo', c.id, c.run)
  end
  show(c)
end

-- It provably did not happen; it may be asked for again.
local function undo_fails(c, u, reason)
  record_call('undo_failed', c, 'reason', reason)
  undo_becomes(c, u, 'failed', 'reason', reason)
end

-- Nobody can tell whether it happened: asked of the tool, told to ops, and never begun again by itself.
local function undo_unknown(c, u, reason)
  record_call('undo_unknown', c, 'reason', reason)
  undo_becomes(c, u, 'unknown', 'reason', reason)
  owe('alert', 'undo:' .. c.id)
end

-- Back to asked before any intent: nothing happened.
local function undo_unclaimed(c, u, reason)
  record_call('undo_unclaimed', c, 'reason', reason)
  undo_becomes(c, u, 'asked', 'last_token', u.token, 'token', '', 'lease_until', '')
  set_deadline('undo', c.id, u.execute_by)
end

-- Whether there is an end to tell: it happened, it did not, or nobody knows.
local function undo_ended(id)
  local state = exec('HGET', key.call(id), 'undo_state')
  return state == 'undone' or state == 'failed' or state == 'unknown'
end

-- For how long (ms) what was begun, a call's effect or its undo (of = 'undo_'), may still be at work: by its time
-- limit, or because its worker says that it is there. Not more than 0: nobody can be. Version 0.1 wrote what the limit
-- is made of. "Not found" says nothing before, whoever looks: worker/reconcile.py waits for the same.
local function still_at_work_ms(c, of, subject, margin_ms)
  local begun = read(key.call(c.id), { of .. 'at_work_until', of .. 'claimed_at', of .. 'longest_ms' })
  local of_old = (begun[of .. 'claimed_at'] or 0) + (begun[of .. 'longest_ms'] or 0) + margin_ms
  local limit = begun[of .. 'at_work_until'] or of_old
  return math.max(limit - NOW, exec('PTTL', key.at_work(subject)))
end

-- Nobody is at it, nobody wants it, nobody wonders: the call may be forgotten.
local function undo_rests(id)
  local state = exec('HGET', key.call(id), 'undo_state')
  return not state or state == 'undone' or state == 'failed'
end

-- Whether ops was told of a call, or of its undo, what only a person can settle, and nobody has closed it yet: what
-- contradicts itself can be final and still have happened twice.
local function waits_for_ops(id)
  local call, undo = 'call:' .. id, 'undo:' .. id
  return exec('SISMEMBER', key.dead_letters, call) == 1 or exec('SISMEMBER', key.dead_letters, undo) == 1
end
