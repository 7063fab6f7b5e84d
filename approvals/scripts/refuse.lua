-- Approved, but not runnable (a cap, the law): ends the call. Nobody refused it, so there is no veto.
-- KEYS[1] the tenant's prefix
-- ARGV    call, batch, token, epoch, cause, reason
-- Answers ok | repeated | lease_lost | wrong_state {state} | not_found
local call, batch, token, epoch, cause, reason = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.batch ~= batch or not holds_batch(batch, token, epoch) then return { 'lease_lost' } end
if c.state == 'rejected' and c.cause == cause and c.reason == reason then return { 'repeated' } end
if c.state ~= 'approved' then return { 'wrong_state', 'state', c.state } end

record_call('refused', c, 'cause', cause, 'reason', reason)
become(c, 'rejected', 'cause', cause, 'reason', reason)
return { 'ok' }
