-- The tool was asked what became of one attempt of an undo, and only a person can tell: ops reads what was said.
-- KEYS[1] the tenant's prefix
-- ARGV    call, attempt (its token), reason (with what the provider said)
-- Answers ok | repeated | wrong_state {state} | not_found
local call, attempt, reason = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
local u = load_undo(c)
if u.state ~= 'unknown' or u.token ~= attempt then return { 'wrong_state', 'state', u.state or '' } end
if u.reason == reason then return { 'repeated' } end

set_undo(c, 'reason', reason)
owe('alert', 'undo:' .. c.id)
return { 'ok' }
