-- A held call, judged again now that its run waits for nothing that people were asked about: it may not run.
-- KEYS[1] the tenant's prefix
-- ARGV    call, batch, token, epoch, reason, cause
-- Answers ok | repeated | lease_lost | wrong_state {state} | not_found
local call, batch, token, epoch, reason, cause = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.batch ~= batch or not holds_batch(batch, token, epoch) then return { 'lease_lost' } end
if c.state == 'rejected' and c.cause == cause and c.reason == reason then return { 'repeated' } end
if c.state ~= 'proposed' then return { 'wrong_state', 'state', c.state } end

record_call('rejected', c, 'actor', 'policy', 'cause', cause, 'reason', reason)
become(c, 'rejected', 'cause', cause, 'reason', reason)
return { 'ok' }
