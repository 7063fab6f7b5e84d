-- Gives a batch's lease back. A batch that was decided on meanwhile (another generation) is woken at once, one with
-- work left over (a freeze) after a few seconds, so that nothing decided during the lease is lost.
-- KEYS[1] the tenant's prefix
-- ARGV    batch, token, epoch, generation
-- Answers ok {woken} | repeated | lease_lost
local batch, token, epoch, generation = unpack(ARGV)
local b = read(key.batch(batch), { 'finished_by', 'generation' })
if b.finished_by == token .. ':' .. epoch then return { 'repeated' } end
if not holds_batch(batch, token, epoch) then return { 'lease_lost' } end

exec('HSET', key.batch(batch), 'finished_by', token .. ':' .. epoch)
exec('HDEL', key.batch(batch), 'token', 'lease_until')
if b.generation ~= generation then
  wake_again('execute_batch', batch, NOW)
  return { 'ok', 'woken', '1' }
end
if has_work(batch) then
  wake_again('execute_batch', batch, NOW + 4000)
  return { 'ok', 'woken', '1' }
end
let_sleep('execute_batch', batch)
return { 'ok', 'woken', '0' }
