-- Somebody who may decide says that they are looking: the next tier is not added. It decides nothing.
-- KEYS[1] the tenant's prefix
-- ARGV    batch, by, name
-- Answers ok | repeated | not_pending | not_found
local batch, by, name = unpack(ARGV)
local b = read(key.batch(batch), { 'run', 'on_it' })
if not b.run then return { 'not_found' } end
if exec('SCARD', key.batch_open(batch)) == 0 then return { 'not_pending' } end
if b.on_it == by then return { 'repeated' } end

exec('HSET', key.batch(batch), 'on_it', by, 'on_it_name', name)
drop_deadline('escalate', batch)
record('on_it', 'run', b.run, 'batch', batch, 'actor', by, 'name', name)
owe_in_thread('card', batch, b.run)
return { 'ok' }
