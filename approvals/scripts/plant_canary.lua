-- Plants a canary: a run that stands paused over one call. No worker drives it, no verb approves or claims the call.
-- KEYS[1] the tenant's prefix
-- ARGV    run, request (encrypted), requester, channel, started_as, agent, limit (notifications per hour), batch,
--         radius, ttl_s, lapse_s, call, sdk_id, tool, seal, content, needed, law, mode, kept (for the ledger), tier,
--         then the list of whom the card notifies, led by its length
-- Answers ok | repeated | cap_reached {cap, key, limit, used}
local arg = reader(ARGV)
local run, request, requester, channel, started_as, agent, limit = arg(), arg(), arg(), arg(), arg(), arg(), arg()
local b = { id = arg(), radius = arg(), ttl_s = arg(), lapse_s = arg(), number = '1', has_card = '1', quiet = '0' }
local c = { id = arg(), sdk_id = arg(), tool = arg(), seal = arg(), content = arg(), needed = arg(), law = arg(),
  mode = arg(), kept = arg(), tier = arg(), radius = b.radius, run = run, batch = b.id, pause = '1', number = '1',
  agent = agent, state = 'pending_review', version = '1', cause = '', reason = '', held = '', counts = '',
  canary = '1' }
b.calls, b.notify = { c.id }, listed(arg)
if exec('EXISTS', key.run(run)) == 1 then return { 'repeated' } end
local over = overheard({ b }, limit)
if over then return over end

exec('HSET', key.run(run), 'canary', '1', 'state', 'paused', 'request', request, 'requester', requester,
  'channel', channel, 'thread_ts', '', 'agent', agent, 'started_as', started_as, 'parent', '', 'barrier', 'batch',
  'pause', 1, 'turns', 0, 'epoch', 0, 'created_at', int(NOW))
owe('opening', run, channel)
record('run_started', 'run', run, 'actor', requester, 'name', agent)
record('paused', 'run', run)
add_batch(b, run, '1', channel)
add_call(c, '1')
return { 'ok' }
