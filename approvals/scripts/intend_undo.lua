-- The last word before an undo is tried. From here on it is never begun again by itself.
-- KEYS[1] the tenant's prefix
-- ARGV    call, token, longest_ms (that it may be at work), present_ms (that its worker is believed to be there)
-- Answers ok | repeated | lease_lost | frozen | wrong_state {state}
local call, token, longest_ms, present_ms = unpack(ARGV)
local c = load_call(call)
local u = load_undo(c)
if u.state ~= 'executing' or u.token ~= token or tonumber(u.lease_until) <= NOW then return { 'lease_lost' } end
if exec('EXISTS', key.frozen) == 1 then return { 'frozen' } end
if u.intended then return { 'repeated' } end
if u.late_receipt then return { 'wrong_state', 'state', 'contradicted' } end

set_undo(c, 'intended', '1', 'at_work_until', at_work('undo:' .. c.id, longest_ms, present_ms))
record_call('undo_intended', c)
return { 'ok' }
