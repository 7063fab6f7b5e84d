-- Takes events out of the stream that are kept in SQL now. Remembers the ledger's head with them in it, and the newest
-- of them that was here: one that was not may never have been, as a server that took over meanwhile knows less.
-- KEYS[1] the tenant's prefix
-- ARGV    was (the head that the ledger was compared with), head (what it is now), then ids of the events
-- Answers ok | wrong_state {state} (another drainer, or an operator, has noted another head since)
local function later(one, other)
  local ms, n = string.match(one, '^(%d+)%-(%d+)$')
  local other_ms, other_n = string.match(other, '^(%d+)%-(%d+)$')
  if ms == other_ms then return tonumber(n) > tonumber(other_n) end
  return tonumber(ms) > tonumber(other_ms)
end
local arg = reader(ARGV)
local was, head = arg(), arg()
local noted = exec('HGET', key.vouched, 'head') or ''
if noted ~= was then return { 'wrong_state', 'state', noted } end

local newest = exec('HGET', key.vouched, 'drained') or '0-0'
for _ = 3, #ARGV do
  local id = arg()
  if exec('XDEL', key.ledger, id) == 1 and later(id, newest) then newest = id end
end
exec('HSET', key.vouched, 'drained', newest, 'head', head)
return { 'ok' }
