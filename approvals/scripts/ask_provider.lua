-- An operator lets the tool be asked again what became of an unknown call.
-- KEYS[1] the tenant's prefix
-- ARGV    call, by, name
-- Answers ok | wrong_state {state} | not_found
local call, by, name = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.state ~= 'unknown' then return { 'wrong_state', 'state', c.state } end

record_call('provider_asked', c, 'actor', by, 'name', name)
wake('reconcile_call', c.id)
return { 'ok' }
