-- Ends a run on somebody's word: what was not claimed is withdrawn, what is at work is waited for. Whoever drives the
-- run loses it; nothing it does outside the gate has an effect.
-- KEYS[1] the tenant's prefix
-- ARGV    run, by, name
-- Answers ok {state} | repeated {state} | wrong_state {state} | not_found
local run, by, name = unpack(ARGV)
local r = read(key.run(run), { 'state', 'pause', 'cancelled_by', 'channel' })
if not r.state then return { 'not_found' } end
if r.cancelled_by then return { 'repeated', 'state', r.state } end
if r.state == 'completed' or r.state == 'stopped' or r.state == 'failed' then
  return { 'wrong_state', 'state', r.state }
end

exec('HSET', key.run(run), 'cancelled_by', by, 'cancelled_name', name)
record('cancelled', 'run', run, 'actor', by, 'name', name)
owe('opening', run, r.channel)
for _, id in ipairs(exec('LRANGE', key.pause_calls(run, r.pause), 0, -1)) do
  local c = load_call(id)
  if c.state == 'proposed' or c.state == 'pending_review' or c.state == 'approved' then withdraw(c, by, name) end
end
local waits = r.state == 'paused' and exec('SCARD', key.unanswered(run, r.pause)) > 0
if not waits and exec('HGET', key.run(run), 'state') ~= 'stopped' then end_cancelled(run) end
return { 'ok', 'state', exec('HGET', key.run(run), 'state') }
