-- Keeps whether anybody is in a tier, as Slack says; ops is told when it has become empty, not again while it is.
-- KEYS[1] the tenant's prefix
-- ARGV    tier, empty (1: nobody is in it)
-- Answers ok | repeated
local tier, empty = unpack(ARGV)
local field = 'empty_tier:' .. tier
local known = exec('HEXISTS', key.switches, field) == 1
if known == (empty == '1') then return { 'repeated' } end

if known then
  exec('HDEL', key.switches, field)
else
  exec('HSET', key.switches, field, '1')
  owe_once('tier:' .. tier, '')
end
return { 'ok' }
