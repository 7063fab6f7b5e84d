-- How an undo ended, as its worker saw it: undone, failed (provably nothing happened), or unknown. Settles an unknown
-- one too. A receipt that contradicts what was settled is kept and told to ops.
-- KEYS[1] the tenant's prefix
-- ARGV    call, token, outcome, reason, receipt (encrypted)
-- Answers ok | repeated | lease_lost | wrong_state {state} | not_found
local call, token, outcome, reason, receipt = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
local u = load_undo(c)
if u.token == token and u.state == outcome then return { 'repeated' } end
local open = u.state == 'executing' or (u.state == 'unknown' and outcome ~= 'unknown')
if u.token ~= token or not open then
  if outcome == 'undone' and exec('HSETNX', key.call(c.id), 'undo_late_receipt', receipt) == 1 then
    record_call('undo_contradicted', c, 'cause', u.state or '')
    exec('SADD', key.dead_letters, 'undo:' .. c.id)
    owe('alert', 'undo:' .. c.id)
    owe_in_thread('undo', c.id, c.run)
    show(c)
  end
  if u.token ~= token then return { 'lease_lost' } end
  return { 'wrong_state', 'state', u.state }
end
if not u.intended then return { 'wrong_state', 'state', u.state } end

if u.state == 'unknown' then owe('alert', 'undo:' .. c.id) end
if outcome == 'unknown' then
  undo_unknown(c, u, reason)
elseif outcome == 'failed' then
  undo_fails(c, u, reason)
else
  record_call('undone', c, 'actor', u.by, 'name', u.name)
  undo_becomes(c, u, 'undone', 'receipt', receipt, 'reason', '')
end
return { 'ok' }
