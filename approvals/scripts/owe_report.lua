-- The report of a week is owed to ops once: its numbers as a message, its picture below them. Both are kept some days.
-- KEYS[1] the tenant's prefix
-- ARGV    week, numbers (encrypted), picture (encrypted; empty: there is none), life_ms
-- Answers ok | repeated
local week, numbers, picture, life_ms = unpack(ARGV)
if exec('EXISTS', key.entry('report:' .. week)) == 1 then return { 'repeated' } end

exec('HSET', key.report(week), 'numbers', numbers, 'picture', picture)
exec('PEXPIRE', key.report(week), life_ms)
exec('DEL', key.report_lease(week))
owe('report', week)
if picture ~= '' then owe('picture', week) end
return { 'ok' }
