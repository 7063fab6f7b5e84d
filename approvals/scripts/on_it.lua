-- Somebody who may decide says that they are looking: until they have approved all that waits, nobody is hurried.
-- It decides nothing; the thread is reminded all the same.
-- KEYS[1] the tenant's prefix
-- ARGV    batch, by, name
-- Answers ok | repeated | already_decided | not_pending | not_found
local batch, by, name = unpack(ARGV)
local b = read(key.batch(batch), { 'run', 'on_it' })
if not b.run then return { 'not_found' } end
if exec('SCARD', key.batch_open(batch)) == 0 then return { 'not_pending' } end
if approved_all(batch, by) then return { 'already_decided' } end
if b.on_it == by then return { 'repeated' } end

exec('HSET', key.batch(batch), 'on_it', by, 'on_it_name', name)
for _, kind in ipairs({ 'remind', 'escalate' }) do
  local at = exec('ZSCORE', key.deadlines, kind .. ':' .. batch)
  if at then exec('HSET', key.batch(batch), kind .. '_at', at) end
end
drop_deadline('escalate', batch)
record('on_it', 'run', b.run, 'batch', batch, 'actor', by, 'name', name)
owe_in_thread('card', batch, b.run)
return { 'ok' }
