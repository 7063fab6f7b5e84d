-- Lets claims happen on this very server: it was compared with the ledger and knows all that the ledger knows.
-- KEYS[1] the tenant's prefix
-- ARGV    server (its run id when the comparison began)
-- Answers ok | repeated | wrong_state {state} (another server has taken over meanwhile)
local server = unpack(ARGV)
if server ~= this_server() then return { 'wrong_state', 'state', this_server() } end
if vouched() then return { 'repeated' } end

exec('HSET', key.vouched, 'server', server)
return { 'ok' }
