-- Tells ops about something that must not be, once, and puts it into the ledger.
-- KEYS[1] the tenant's prefix
-- ARGV    subject, event, run, call, reason
-- Answers ok | repeated
local subject, event, run, call, reason = unpack(ARGV)
if exec('EXISTS', key.entry('alert:' .. subject)) == 1 then return { 'repeated' } end

record(event, 'run', run, 'call', call, 'reason', reason)
owe('alert', subject)
return { 'ok' }
