-- The run goes on with the answer "unknown"; the call stays unknown until somebody settles it.
-- KEYS[1] the tenant's prefix
-- ARGV    call, due (1: only when its deadline has passed)
-- Answers ok | repeated | wrong_state {state} | not_found
local call, due = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
local at = tonumber(exec('ZSCORE', key.deadlines, 'unknown:' .. call) or nil)
if due == '1' and (not at or at > NOW) then return { 'repeated' } end
if c.state ~= 'unknown' then
  drop_deadline('unknown', call)
  return { 'wrong_state', 'state', c.state }
end
if exec('SISMEMBER', key.unanswered(c.run, c.pause), call) == 0 then return { 'repeated' } end

drop_deadline('unknown', call)
let_sleep('reconcile_call', call)
record_call('answered_unknown', c)
answered(c)
no_longer_waited_for(c)
show(c)
return { 'ok' }
