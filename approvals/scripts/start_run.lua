-- Records a run, makes it the newest of its thread, wakes a worker, owes the thread's first message. Without a
-- thread, that message will be the thread (delivered.lua).
-- KEYS[1] the tenant's prefix
-- ARGV    run, request (encrypted), requester, channel, thread_ts, agent, parent, barrier
-- Answers ok | repeated
local run, request, requester, channel, thread_ts, agent, parent, barrier = unpack(ARGV)
if exec('EXISTS', key.run(run)) == 1 then return { 'repeated' } end

exec('HSET', key.run(run), 'state', 'queued', 'request', request, 'requester', requester, 'channel', channel,
  'thread_ts', thread_ts, 'agent', agent, 'parent', parent, 'barrier', barrier, 'pause', 0, 'turns', 0, 'epoch', 0,
  'created_at', int(NOW))
if thread_ts ~= '' then exec('SET', key.thread(channel, thread_ts), run) end
wake('start_run', run)
owe('opening', run, channel)
record('run_started', 'run', run, 'actor', requester, 'name', agent)
return { 'ok' }
