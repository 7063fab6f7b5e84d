-- Has the data of a waiting call looked up again, at most once a minute.
-- Somebody who may decide it reads it, or its time runs out.
-- KEYS[1] the tenant's prefix
-- ARGV    call
-- Answers ok | repeated | wrong_state {state} | refreshing | not_found
local call = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.state ~= 'pending_review' then return { 'wrong_state', 'state', c.state } end
if c.refreshing then return { 'refreshing' } end
local last = tonumber(exec('HGET', key.call(c.id), 'look_asked_at') or 0)
if NOW - last < MINUTE then return { 'repeated' } end

exec('HSET', key.call(c.id), 'look_asked_at', int(NOW))
wake('look_again', c.id)
return { 'ok' }
