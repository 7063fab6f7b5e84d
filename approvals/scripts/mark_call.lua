-- An operator says what became of an unknown call. Where two people are needed, the second one settles it. That it did
-- not happen is not taken while a worker may be at work on it.
-- KEYS[1] the tenant's prefix
-- ARGV    call, happened, by, name, reason, needed, margin_ms (beyond the time limit that version 0.1 wrote)
-- Answers ok {state} | repeated {state} | wrong_state {state, at_work_ms} | not_found
local call, happened, by, name, reason, needed, margin_ms = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
local state = happened == '1' and 'succeeded' or 'failed'
local first = read(key.call(call), { 'marked_by', 'marked_as', 'settled_by' })
if c.state == state and first.settled_by == by then return { 'repeated', 'state', state } end
if c.state ~= 'unknown' then return { 'wrong_state', 'state', c.state } end
if tonumber(needed) > 1 and first.marked_as == state and first.marked_by == by then
  return { 'repeated', 'state', c.state }
end
local left = still_at_work_ms(c, '', c.id, margin_ms)
if state == 'failed' and left > 0 then return { 'wrong_state', 'state', c.state, 'at_work_ms', int(left) } end

record_call('marked', c, 'actor', by, 'name', name, 'cause', state, 'reason', reason)
if tonumber(needed) > 1 and first.marked_as ~= state then
  exec('HSET', key.call(call), 'marked_by', by, 'marked_name', name, 'marked_as', state)
else
  record_call('settled', c, 'actor', by, 'name', name, 'cause', state, 'reason', reason)
  become(c, state, 'settled_by', by, 'reason', reason)
end
owe('alert', 'call:' .. c.id)
return { 'ok', 'state', c.state }
