-- What a look at the data of a waiting call found, or that it failed. Decides nothing and makes no version; the card is
-- rendered anew only when it has something else to say.
-- KEYS[1] the tenant's prefix
-- ARGV    call, version, began (ms), failed, drifted (encrypted; empty: all is as it was sealed), print (of what
--         drifted), told (for the ledger)
-- Answers ok | repeated (a later look has ended before) | stale_version {version} | wrong_state {state} | refreshing
--         | not_found
local call, version, began, failed, drifted, print, told = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.state ~= 'pending_review' then return { 'wrong_state', 'state', c.state } end
if c.version ~= version then return { 'stale_version', 'version', c.version } end
if c.refreshing then return { 'refreshing' } end
local known = read(key.call(c.id), { 'looked_at', 'look_failed_at', 'drift_print' })
if tonumber(began) < math.max(tonumber(known.looked_at or 0), tonumber(known.look_failed_at or 0)) then
  return { 'repeated' }
end

let_sleep('look_again', c.id)
local news = (failed == '1') ~= (known.look_failed_at ~= nil)
if failed == '1' then
  exec('HSET', key.call(c.id), 'look_failed_at', began)
else
  exec('HDEL', key.call(c.id), 'look_failed_at')
  exec('HSET', key.call(c.id), 'looked_at', began, 'drifted', drifted, 'drift_print', print)
  if print ~= (known.drift_print or '') then
    record_call(print == '' and 'drift_over' or 'drift_noticed', c, 'reason', told)
    news = true
  end
end
if news then owe_in_thread('card', c.batch, c.run) end
return { 'ok' }
