-- Forgets a closed run seven days after its end, once its events are drained and no call of it can change any more.
-- Not while ops has not seen to what contradicts itself.
-- KEYS[1] the tenant's prefix
-- ARGV    run
-- Answers ok | repeated (not yet: looked at again in a day) | not_found
local run = unpack(ARGV)
local r = read(key.run(run), { 'state', 'ended_at', 'pause', 'channel', 'thread_ts' })
local due = tonumber(exec('ZSCORE', key.deadlines, 'retire:' .. run) or nil)
if not r.state then
  drop_deadline('retire', run)
  return { 'not_found' }
end
if not r.ended_at or not due or due > NOW then return { 'repeated' } end
local oldest = exec('XRANGE', key.ledger, '-', '+', 'COUNT', 1)[1]
local blocked = oldest and tonumber(string.match(oldest[1], '^%d+')) <= tonumber(r.ended_at)
for pause = 1, tonumber(r.pause) do
  for _, id in ipairs(exec('LRANGE', key.pause_calls(run, pause), 0, -1)) do
    blocked = blocked or not FINAL[exec('HGET', key.call(id), 'state')] or not undo_rests(id) or waits_for_ops(id)
  end
end
if blocked then
  set_deadline('retire', run, NOW + DAY)
  return { 'repeated' }
end

local function forget(jobs, entries, subject, ...)
  for _, job in ipairs(jobs) do exec('HDEL', key.attempts, job .. ':' .. subject) end
  for _, entry in ipairs(entries) do
    for _, about in ipairs({ '', 'alert:outbox:', 'alert:unsent:' }) do
      local id = about .. entry .. subject
      exec('DEL', key.entry(id))
      for _, list in ipairs({ key.outbox, key.owed }) do exec('ZREM', list, id) end
    end
  end
  if select('#', ...) > 0 then exec('DEL', ...) end
end
for pause = 1, tonumber(r.pause) do
  for _, id in ipairs(exec('LRANGE', key.pause_calls(run, pause), 0, -1)) do
    forget({ 'refresh_call', 'reconcile_call', 'undo_call', 'look_again' }, { 'alert:call:', 'alert:seal:',
      'alert:tool:', 'alert:gate:', 'alert:undo:', 'undo:', 'notice:' }, id, key.call(id), key.votes(id),
      key.decisions(id), key.spent(id), key.undo_votes(id), key.at_work(id), key.at_work('undo:' .. id))
    forget_deciders(id)
  end
  for _, id in ipairs(exec('LRANGE', key.pause_batches(run, pause), 0, -1)) do
    for _, user in ipairs(exec('SMEMBERS', key.batch_told(id))) do forget({}, { 'direct:' .. id .. ':' }, user) end
    forget({ 'execute_batch' }, { 'card:', 'alert:', 'alert:quiet:', 'alert:lapse:', 'reminder:half:',
      'reminder:next:' }, id, key.batch(id), key.batch_calls(id), key.batch_open(id), key.batch_told(id))
  end
  forget({}, { 'outcome:' }, run .. ':' .. pause, key.pause_calls(run, pause), key.pause_batches(run, pause),
    key.pause_open(run, pause), key.unanswered(run, pause))
end
if exec('GET', key.thread(r.channel, r.thread_ts)) == run then
  exec('DEL', key.thread(r.channel, r.thread_ts), key.vetoes(r.channel, r.thread_ts),
    key.corrections(r.channel, r.thread_ts))
end
forget({ 'start_run', 'resume_run' }, { 'opening:', 'answer:', 'alert:run:', 'alert:budget:', 'alert:secret:' }, run,
  key.run(run), key.saved(run), key.counts(run))
exec('SREM', key.dead_letters, 'run:' .. run)
drop_deadline('retire', run)
return { 'ok' }
