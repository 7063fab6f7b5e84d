-- Writes a whole pause: the run's state, its calls, its batches, and everything they owe. The run ends its segment.
-- KEYS[1] the tenant's prefix
-- ARGV    run, token, epoch, revision, blob, turns, limit (notifications per hour); then lists, each led by its length:
--         alerts, withdrawn tools, corrected places; batches, each: id, radius, number, has_card, ttl_s, lapse_s, quiet
--         (1: too few were awake to be told), list of calls, list of whom it notifies; calls, each: key, sdk_id,
--         number, agent, tool, batch, state, cause, reason, held, seal, content, needed, counts, law, mode, radius,
--         kept (for the ledger), tier
-- Answers ok {pause, state} | repeated {pause, state} | lease_lost | wrong_state {call}
--         | cap_reached {cap, key, limit, used}
local arg = reader(ARGV)
local run, token, epoch, revision, blob, turns, limit = arg(), arg(), arg(), arg(), arg(), arg(), arg()
local r = read(key.run(run), { 'state', 'pause', 'channel', 'paused_by' })
if r.paused_by == token .. ':' .. epoch then return { 'repeated', 'pause', r.pause, 'state', r.state } end
if not holds_run(run, token, epoch) then return { 'lease_lost' } end
if tonumber(exec('HGET', key.saved(run), 'revision') or 0) + 1 ~= tonumber(revision) then return { 'lease_lost' } end
local pause, batches, calls, cards = int(r.pause + 1), {}, {}, {}
local alerts, withdrawn, corrected = listed(arg), listed(arg), listed(arg)
for i = 1, tonumber(arg()) do
  local b = { id = arg(), radius = arg(), number = arg(), has_card = arg(), ttl_s = arg(), lapse_s = arg(),
    quiet = arg() }
  b.calls, b.notify = listed(arg), listed(arg)
  batches[i], cards[b.id] = b, b.has_card == '1' and '1' or ''
  if exec('EXISTS', key.batch(b.id)) == 1 then return { 'wrong_state', 'call', b.id } end
end
for i = 1, tonumber(arg()) do
  local c = { id = arg(), sdk_id = arg(), number = arg(), agent = arg(), tool = arg(), batch = arg(), state = arg(),
    cause = arg(), reason = arg(), held = arg(), seal = arg(), content = arg(), needed = arg(), counts = arg(),
    law = arg(), mode = arg(), radius = arg(), kept = arg(), tier = arg(), version = '1', run = run,
    pause = pause }
  calls[i] = c
  if exec('EXISTS', key.call(c.id)) == 1 then return { 'wrong_state', 'call', c.id } end
end
local over = overheard(batches, limit)
if over then return over end

exec('HSET', key.saved(run), 'revision', revision, 'blob', blob)
exec('HSET', key.run(run), 'state', 'paused', 'pause', pause, 'turns', turns, 'paused_by', token .. ':' .. epoch)
exec('HDEL', key.run(run), 'token', 'lease_until')
let_sleep('start_run', run)
let_sleep('resume_run', run)
record('paused', 'run', run)
follow(run, alerts, withdrawn, corrected)
for _, b in ipairs(batches) do add_batch(b, run, pause, r.channel) end
for _, c in ipairs(calls) do add_call(c, cards[c.batch] or '') end
settle_pause(run, pause)
if exec('SCARD', key.unanswered(run, pause)) == 0 then
  exec('HSET', key.run(run), 'state', 'ready')
  record('ready', 'run', run)
  wake('resume_run', run)
  owe('outcome', run .. ':' .. pause, r.channel)
end
return { 'ok', 'pause', pause, 'state', exec('HGET', key.run(run), 'state') }
