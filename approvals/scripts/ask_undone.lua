-- An operator lets the tool be asked again what became of an unknown undo.
-- KEYS[1] the tenant's prefix
-- ARGV    call, by, name
-- Answers ok | wrong_state {state} | not_found
local call, by, name = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
local u = load_undo(c)
if u.state ~= 'unknown' then return { 'wrong_state', 'state', u.state or '' } end

record_call('provider_asked', c, 'actor', by, 'name', name, 'cause', 'undo')
wake('undo_call', c.id)
return { 'ok' }
