-- An operator has seen to a matter: its message says so. Should it come up again, it is open again.
-- KEYS[1] the tenant's prefix
-- ARGV    subject, by, name
-- Answers ok | repeated | not_found
local subject, by, name = unpack(ARGV)
local entry = key.entry('alert:' .. subject)
local e = read(entry, { 'closed_by', 'closed_at_version', 'desired' })
if not e.desired then return { 'not_found' } end
if e.closed_by and e.closed_at_version == e.desired then return { 'repeated' } end

exec('SREM', key.dead_letters, subject)
record('alert_closed', 'actor', by, 'name', name, 'reason', subject)
owe('alert', subject)
exec('HSET', entry, 'closed_by', by, 'closed_name', name, 'closed_at_version', exec('HGET', entry, 'desired'))
return { 'ok' }
