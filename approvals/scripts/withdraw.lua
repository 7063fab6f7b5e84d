-- A call that was not claimed yet is taken back by whoever asked for it.
-- KEYS[1] the tenant's prefix
-- ARGV    call, by
-- Answers ok | repeated | wrong_state {state} | not_found
local call, by = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.state == 'rejected' and c.cause == 'withdrawn' and c.decided_by == by then return { 'repeated' } end
if c.state ~= 'proposed' and c.state ~= 'pending_review' and c.state ~= 'approved' then
  return { 'wrong_state', 'state', c.state }
end

withdraw(c, by, by)
return { 'ok' }
