-- Stops every claim and intent. Decisions go on. Who freezes what is frozen adds a reason to it, and ops is told anew.
-- KEYS[1] the tenant's prefix
-- ARGV    by, reason, guard (1: nobody did it, Redis and the ledger contradict each other)
-- Answers ok | repeated (the same by, reason and guard are among its reasons)
local by, reason, guard = unpack(ARGV)
local reasons = freezes()
for _, one in ipairs(reasons) do
  if one.by == by and one.reason == reason and one.guard == guard then return { 'repeated' } end
end

local n = #reasons + 1
local suffix = n == 1 and '' or ':' .. int(n) -- the first as every version has written it
exec('HSET', key.frozen, 'count', int(n), 'by' .. suffix, by, 'reason' .. suffix, reason, 'at' .. suffix, int(NOW),
  'guard' .. suffix, guard)
record('frozen', 'actor', by, 'reason', reason)
owe('alert', frozen_subject(n, int(NOW))) -- a message of its own: nobody notices that an old one was changed
return { 'ok' }
