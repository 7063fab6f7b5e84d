-- Lets claims happen on this very server: it was compared with the ledger and knows all that the ledger knows.
-- KEYS[1] the tenant's prefix
-- ARGV    server (as it was when the comparison began), head (the ledger's newest event; empty for none)
-- Answers ok | repeated | wrong_state {state} (another server has taken over meanwhile)
local server, head = unpack(ARGV)
if server ~= this_server() then return { 'wrong_state', 'state', this_server() } end
if vouched() and exec('HGET', key.vouched, 'compared') == head then return { 'repeated' } end

exec('HSET', key.vouched, 'server', server, 'compared', head)
return { 'ok' }
