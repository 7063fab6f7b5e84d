-- The last word before an effect. From here on the call is never dispatched again.
-- KEYS[1] the tenant's prefix
-- ARGV    call, token, longest_ms (that it may be at work), present_ms (that its worker is believed to be there)
-- Answers ok | repeated | lease_lost | frozen | wrong_state {state} (its run was cancelled: nothing more is begun)
local call, token, longest_ms, present_ms = unpack(ARGV)
local c = load_call(call)
if c.state ~= 'executing' or c.token ~= token or tonumber(c.lease_until) <= NOW then return { 'lease_lost' } end
if exec('EXISTS', key.frozen) == 1 then return { 'frozen' } end
if c.intended then return { 'repeated' } end
if exec('HEXISTS', key.run(c.run), 'cancelled_by') == 1 then return { 'wrong_state', 'state', c.state } end

exec('HSET', key.call(c.id), 'intended', '1', 'at_work_until', at_work(c.id, longest_ms, present_ms))
record_call('intended', c)
return { 'ok' }
