-- The tool could not tell what became of a call, or was asked for long enough: now ops is, once.
-- KEYS[1] the tenant's prefix
-- ARGV    call, due (1: only when its deadline has passed)
-- Answers ok | repeated | wrong_state {state} | not_found
local call, due = unpack(ARGV)
local c = load_call(call)
local at = tonumber(exec('ZSCORE', key.deadlines, 'unknown-alert:' .. call) or nil)
if due == '1' and (not at or at > NOW) then return { 'repeated' } end
drop_deadline('unknown-alert', call)
if not c.state then return { 'not_found' } end
if c.state ~= 'unknown' then return { 'wrong_state', 'state', c.state } end
if not at then return { 'repeated' } end

owe('alert', 'call:' .. c.id)
return { 'ok' }
