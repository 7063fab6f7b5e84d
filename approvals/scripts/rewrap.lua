-- Puts the same value under the newest key in the place of what was read, unless it has changed since.
-- KEYS[1] the tenant's prefix
-- ARGV    kind (run, saved, call, report, decisions), subject, place (a field, or an index), before, after
-- Answers ok | wrong_state (it has changed, is gone, or a worker is at the run)
local kind, subject, place, before, after = unpack(ARGV)
local listed = kind == 'decisions'
local name = key[kind](subject)
if exec(listed and 'LINDEX' or 'HGET', name, place) ~= before then return { 'wrong_state' } end
if kind == 'saved' and tonumber(exec('HGET', key.run(subject), 'lease_until') or 0) > NOW then
  return { 'wrong_state' } -- its worker knows its own writing by the bytes
end

exec(listed and 'LSET' or 'HSET', name, place, after)
return { 'ok' }
