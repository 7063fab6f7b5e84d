-- An operator says what became of an unknown call. Where two people are needed, the second one settles it.
-- KEYS[1] the tenant's prefix
-- ARGV    call, happened, by, name, reason, needed
-- Answers ok {state} | repeated {state} | wrong_state {state} | not_found
local call, happened, by, name, reason, needed = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
local state = happened == '1' and 'succeeded' or 'failed'
local first = read(key.call(call), { 'marked_by', 'marked_as', 'settled_by' })
if c.state == state and first.settled_by == by then return { 'repeated', 'state', state } end
if c.state ~= 'unknown' then return { 'wrong_state', 'state', c.state } end
if tonumber(needed) > 1 and first.marked_as == state and first.marked_by == by then
  return { 'repeated', 'state', c.state }
end

record_call('marked', c, 'actor', by, 'name', name, 'cause', state, 'reason', reason)
if tonumber(needed) > 1 and first.marked_as ~= state then
  exec('HSET', key.call(call), 'marked_by', by, 'marked_name', name, 'marked_as', state)
else
  record_call('settled', c, 'actor', by, 'name', name, 'cause', state, 'reason', reason)
  become(c, state, 'settled_by', by, 'reason', reason)
end
owe('alert', 'call:' .. c.id)
return { 'ok', 'state', c.state }
