-- Takes events out of the stream that are kept in SQL now, and remembers the newest of them that was here.
-- One that was not here may never have been: a server that took over meanwhile knows less.
-- KEYS[1] the tenant's prefix
-- ARGV    ids of the events
-- Answers ok
local function later(one, other)
  local ms, n = string.match(one, '^(%d+)%-(%d+)$')
  local other_ms, other_n = string.match(other, '^(%d+)%-(%d+)$')
  if ms == other_ms then return tonumber(n) > tonumber(other_n) end
  return tonumber(ms) > tonumber(other_ms)
end
local arg = reader(ARGV)
local newest = exec('HGET', key.vouched, 'drained') or '0-0'
for _ = 1, #ARGV do
  local id = arg()
  if exec('XDEL', key.ledger, id) == 1 and later(id, newest) then newest = id end
end
exec('HSET', key.vouched, 'drained', newest)
return { 'ok' }
