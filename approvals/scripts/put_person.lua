-- Keeps what Slack said about a user just now.
-- KEYS[1] the tenant's prefix
-- ARGV    user, json (what equals for equal snapshots), full (1: neither guest, bot, stranger nor deactivated), team
-- Answers ok {fetched_at}
local user, json, full, team = unpack(ARGV)
exec('HSET', key.person(user), 'json', json, 'full', full, 'team', team, 'fetched_at', int(NOW))
return { 'ok', 'fetched_at', int(NOW) }
