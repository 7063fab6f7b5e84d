-- Lets effects happen again, whatever they were frozen for, unless for more reasons than whoever asks has seen.
-- KEYS[1] the tenant's prefix
-- ARGV    by, reason, seen (how many reasons; empty: whatever there are)
-- Answers ok | repeated | stale_version {version: how many there are}
local by, reason, seen = unpack(ARGV)
local reasons = freezes()
if #reasons == 0 then return { 'repeated' } end
if seen ~= '' and tonumber(seen) ~= #reasons then return { 'stale_version', 'version', int(#reasons) } end

exec('DEL', key.frozen)
record('unfrozen', 'actor', by, 'reason', reason)
for _, one in ipairs(reasons) do owe('alert', one.subject) end
return { 'ok' }
