-- The last word before an undo is tried. From here on it is never begun again by itself.
-- KEYS[1] the tenant's prefix
-- ARGV    call, token, longest_ms (the undo's own time limit)
-- Answers ok | repeated | lease_lost | frozen | wrong_state {state}
local call, token, longest_ms = unpack(ARGV)
local c = load_call(call)
local u = load_undo(c)
if u.state ~= 'executing' or u.token ~= token or tonumber(u.lease_until) <= NOW then return { 'lease_lost' } end
if exec('EXISTS', key.frozen) == 1 then return { 'frozen' } end
if u.intended then return { 'repeated' } end
if u.late_receipt then return { 'wrong_state', 'state', 'contradicted' } end

set_undo(c, 'intended', '1', 'longest_ms', longest_ms)
record_call('undo_intended', c)
return { 'ok' }
