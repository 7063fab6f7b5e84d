-- A worker found that an undo may not be tried (any more): authority, law, tool. Nothing happened.
-- KEYS[1] the tenant's prefix
-- ARGV    call, seal (of what was asked), reason
-- Answers ok | repeated | stale_version {version} | wrong_state {state} | not_found
local call, seal, reason = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
local u = load_undo(c)
if u.state == 'failed' and u.seal == seal and u.reason == reason then return { 'repeated' } end
if u.state ~= 'asked' then return { 'wrong_state', 'state', u.state or '' } end
if u.seal ~= seal then return { 'stale_version', 'version', c.version } end

undo_fails(c, u, reason)
return { 'ok' }
