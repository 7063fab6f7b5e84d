-- The effect happened. Settles an unknown call too. A receipt that fits no state is kept and told to ops.
-- KEYS[1] the tenant's prefix
-- ARGV    call, token, receipt (encrypted), version (the receipt is bound to)
-- Answers ok | repeated | lease_lost | wrong_state {state} | not_found
local call, token, receipt, version = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.token == token and c.state == 'succeeded' then
  exec('HSETNX', key.call(c.id), 'receipt', receipt) -- settled by hand without one
  return { 'repeated' }
end
if c.token == token and (c.state == 'executing' or c.state == 'unknown') then
  local late = c.state == 'unknown'
  record_call(late and 'settled' or 'succeeded', c, 'cause', late and 'succeeded' or '')
  become(c, 'succeeded', 'receipt', receipt)
  if late then owe_again('call:' .. c.id) else observe_click(c) end
  return { 'ok' }
end

if exec('HSETNX', key.call(c.id), 'late_receipt', receipt) == 1 then
  exec('HSET', key.call(c.id), 'late_version', version)
  contradict(c, 'succeeded')
end
if c.token ~= token then return { 'lease_lost' } end
return { 'wrong_state', 'state', c.state }
