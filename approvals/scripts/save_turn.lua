-- Keeps a run's state after a turn. The revision is part of what the blob is bound to, so it must follow the last.
-- KEYS[1] the tenant's prefix
-- ARGV    run, token, epoch, revision, blob, turns
-- Answers ok | repeated | lease_lost
local run, token, epoch, revision, blob, turns = unpack(ARGV)
if not holds_run(run, token, epoch) then return { 'lease_lost' } end
local saved = read(key.saved(run), { 'revision', 'blob' })
if saved.revision == revision and saved.blob == blob then return { 'repeated' } end
if tonumber(saved.revision or 0) + 1 ~= tonumber(revision) then return { 'lease_lost' } end

exec('HSET', key.saved(run), 'revision', revision, 'blob', blob)
exec('HSET', key.run(run), 'turns', turns)
return { 'ok' }
