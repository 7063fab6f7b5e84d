-- Takes a batch for one worker, if any of its calls can be claimed or judged now.
-- KEYS[1] the tenant's prefix
-- ARGV    batch, token, ttl (ms)
-- Answers ok {run, epoch, generation, in_vain} | repeated {...} | lease_lost | wrong_state | not_found
local batch, token, ttl = unpack(ARGV)
local b = read(key.batch(batch), { 'run', 'token', 'epoch', 'lease_until', 'generation', 'in_vain' })
if not b.run then
  let_sleep('execute_batch', batch)
  return { 'not_found' }
end
if tonumber(b.lease_until or 0) > NOW then
  if b.token ~= token then return { 'lease_lost' } end
  return { 'repeated', 'run', b.run, 'epoch', b.epoch, 'generation', b.generation, 'in_vain', b.in_vain or '0' }
end
if not has_work(batch) then
  let_sleep('execute_batch', batch)
  return { 'wrong_state' }
end

local epoch = int(b.epoch + 1)
exec('HSET', key.batch(batch), 'token', token, 'epoch', epoch, 'lease_until', int(NOW + ttl))
wake_again('execute_batch', batch, NOW + ttl)
return { 'ok', 'run', b.run, 'epoch', epoch, 'generation', b.generation, 'in_vain', b.in_vain or '0' }
