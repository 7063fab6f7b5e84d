-- The tool itself, or an operator, says what became of one attempt of an undo that ended unknown. Where two people
-- are needed, the second settles it. That it did not happen is taken from nobody while a worker may be at work on it.
-- KEYS[1] the tenant's prefix
-- ARGV    call, attempt (its token), happened, by, name, reason, needed, receipt (encrypted), margin_ms
--         (beyond the time limit that version 0.1 wrote)
-- Answers ok {state} | repeated {state} | wrong_state {state, at_work_ms} | not_found
local call, attempt, happened, by, name, reason, needed, receipt, margin_ms = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
local u, state = load_undo(c), happened == '1' and 'undone' or 'failed'
if u.token ~= attempt then return { 'wrong_state', 'state', u.state or '' } end
if u.state == state and u.settled_by == by then return { 'repeated', 'state', state } end
if u.state ~= 'unknown' then return { 'wrong_state', 'state', u.state or '' } end
local two = tonumber(needed) > 1
if two and u.marked_as == state and u.marked_by == by then return { 'repeated', 'state', u.state } end
local left = still_at_work_ms(c, 'undo_', 'undo:' .. c.id, margin_ms)
if state == 'failed' and left > 0 then return { 'wrong_state', 'state', u.state, 'at_work_ms', int(left) } end

owe('alert', 'undo:' .. c.id)
if two and u.marked_as ~= state then
  record_call('undo_marked', c, 'actor', by, 'name', name, 'cause', state, 'reason', reason)
  set_undo(c, 'marked_by', by, 'marked_name', name, 'marked_as', state)
  return { 'ok', 'state', u.state }
end
record_call('undo_settled', c, 'actor', by, 'name', name, 'cause', state, 'reason', reason)
undo_becomes(c, u, state, 'settled_by', by, 'reason', reason)
if receipt ~= '' then set_undo(c, 'receipt', receipt) end
return { 'ok', 'state', state }
