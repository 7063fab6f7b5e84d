-- Gives a batch's lease back. A batch that was decided on meanwhile (another generation) is woken at once, one with
-- work left over (a freeze, a call that could not be carried out) after a while, so that nothing is lost.
-- KEYS[1] the tenant's prefix
-- ARGV    batch, token, epoch, generation, in_vain (for the next lease), again (ms, for what is left over)
-- Answers ok {woken} | repeated | lease_lost
local batch, token, epoch, generation, in_vain, again = unpack(ARGV)
local b = read(key.batch(batch), { 'finished_by', 'generation' })
if b.finished_by == token .. ':' .. epoch then return { 'repeated' } end
if not holds_batch(batch, token, epoch) then return { 'lease_lost' } end

exec('HSET', key.batch(batch), 'finished_by', token .. ':' .. epoch)
exec('HDEL', key.batch(batch), 'token', 'lease_until', 'in_vain')
if in_vain ~= '0' then exec('HSET', key.batch(batch), 'in_vain', in_vain) end
if b.generation ~= generation then
  wake_again('execute_batch', batch, NOW)
  return { 'ok', 'woken', '1' }
end
if has_work(batch) then
  wake_again('execute_batch', batch, NOW + again)
  return { 'ok', 'woken', '1' }
end
let_sleep('execute_batch', batch)
return { 'ok', 'woken', '0' }
