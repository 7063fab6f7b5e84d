-- Time is over for an undo: nobody agreed or began in time, or the worker that claimed it has gone.
-- KEYS[1] the tenant's prefix
-- ARGV    call
-- Answers ok {state} | repeated | not_found
local call = unpack(ARGV)
local c = load_call(call)
local u = load_undo(c)
local claimed = u.state == 'executing'
if u.state ~= 'wanted' and u.state ~= 'asked' and not claimed then
  drop_deadline('undo', call)
  return { c.state and 'repeated' or 'not_found' }
end
local due = claimed and u.lease_until or u.execute_by
if tonumber(due) > NOW then
  set_deadline('undo', call, due)
  return { 'repeated' }
end

if not claimed then
  undo_fails(c, u, u.state == 'wanted' and 'nobody else agreed in time' or 'it could not be begun in time')
elseif u.intended then
  undo_unknown(c, u, 'the worker was lost while the undo ran')
else
  undo_unclaimed(c, u, 'the worker was lost before the undo ran')
end
return { 'ok', 'state', u.state }
