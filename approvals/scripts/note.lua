-- Puts an attempt that was refused into the ledger.
-- KEYS[1] the tenant's prefix
-- ARGV    call, event, user, name, detail
-- Answers ok
local call, event, user, name, detail = unpack(ARGV)
local c = load_call(call)
record(event, 'run', c.run or '', 'batch', c.batch or '', 'call', call, 'tool', c.tool or '',
  'version', c.version or '', 'actor', user, 'name', name, 'reason', detail)
return { 'ok' }
