-- A held call, judged again now that its run waits for nothing that people were asked about: it may run.
-- KEYS[1] the tenant's prefix
-- ARGV    call, batch, token, epoch
-- Answers ok {execute_by} | repeated {execute_by} | lease_lost | wrong_state {state} | not_found
local call, batch, token, epoch = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.batch ~= batch or not holds_batch(batch, token, epoch) then return { 'lease_lost' } end
if c.state == 'approved' and c.decided_by == 'policy' then return { 'repeated', 'execute_by', c.execute_by } end
if c.state ~= 'proposed' or waits_for_people(c.run, c.pause) then
  return { 'wrong_state', 'state', c.state }
end

local by = c.execute_by or int(NOW + exec('HGET', key.batch(batch), 'lapse_s') * 1000)
record_call('approved', c, 'actor', 'policy')
become(c, 'approved', 'execute_by', by, 'decided_by', 'policy', 'decided_name', 'policy', 'decided_at', int(NOW),
  'decided_verdict', 'approve')
set_deadline('lapse', c.id, by)
return { 'ok', 'execute_by', by }
