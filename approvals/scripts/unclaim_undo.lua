-- The claim of an undo that wrote no intent is given back: it is asked for as before.
-- KEYS[1] the tenant's prefix
-- ARGV    call, token
-- Answers ok | repeated | lease_lost | wrong_state {state} | not_found
local call, token = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
local u = load_undo(c)
if u.state == 'asked' and u.last_token == token then return { 'repeated' } end
if u.state ~= 'executing' or u.intended then return { 'wrong_state', 'state', u.state or '' } end
if u.token ~= token then return { 'lease_lost' } end

undo_unclaimed(c, u, '')
return { 'ok' }
