-- The tool could not tell what became of a call, or was asked for long enough: now ops is, once.
-- And once more for each new thing that its provider says.
-- KEYS[1] the tenant's prefix
-- ARGV    call, due (1: only when its deadline has passed), reason (with what the provider said; empty: as it is)
-- Answers ok | repeated | wrong_state {state} | not_found
local call, due, reason = unpack(ARGV)
local c = load_call(call)
local at = tonumber(exec('ZSCORE', key.deadlines, 'unknown-alert:' .. call) or nil)
if due == '1' and (not at or at > NOW) then return { 'repeated' } end
drop_deadline('unknown-alert', call)
if not c.state then return { 'not_found' } end
if c.state ~= 'unknown' then return { 'wrong_state', 'state', c.state } end
local news = reason ~= '' and reason ~= exec('HGET', key.call(c.id), 'reason')
if not at and not news then return { 'repeated' } end

if news then exec('HSET', key.call(c.id), 'reason', reason) end
owe('alert', 'call:' .. c.id)
return { 'ok' }
