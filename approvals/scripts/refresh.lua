-- A worker has checked an edit: commits content and seal; counts the editor's approval, drops it (drift), or refuses.
-- KEYS[1] the tenant's prefix
-- ARGV    call, version, content (encrypted), seal, drift, rejected, needed, counts, law,
--         kept (for the ledger), tier
-- Answers ok {verdict, missing} | repeated {verdict, missing} | expired {decide_by} | stale_version {version}
--         | wrong_state {state} | not_found
local call, version, content, seal, drift, rejected, needed, counts, law, kept, tier = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.version == version and c.seal == seal and not c.refreshing and c.edit_by then
  local so_far, missing = standing(c)
  return { 'repeated', 'verdict', so_far, 'missing', missing }
end
if c.state ~= 'pending_review' or not c.refreshing then return { 'wrong_state', 'state', c.state } end
if c.version ~= version then return { 'stale_version', 'version', c.version } end
if NOW >= decide_by(c) then return { 'expired', 'decide_by', int(decide_by(c)) } end

local editor = read(key.call(c.id), { 'edit_name', 'edit_approval' })
c.seal, c.needed, c.law = seal, needed, law
exec('HSET', key.call(c.id), 'content', content, 'seal', seal, 'needed', needed, 'law', law, 'tier', tier)
exec('HDEL', key.call(c.id), 'refreshing')
if counts ~= '' then exec('HSET', key.counts(c.run), c.id, counts) else exec('HDEL', key.counts(c.run), c.id) end
let_sleep('refresh_call', c.id)
record_call('refreshed', c, 'actor', c.edit_by, 'name', editor.edit_name, 'cause', drift == '1' and 'drift' or '',
  'kept', kept)
if rejected ~= '' then
  record_call('rejected', c, 'actor', 'policy', 'cause', 'policy', 'reason', rejected)
  become(c, 'rejected', 'cause', 'policy', 'reason', rejected)
  return { 'ok', 'verdict', 'rejected', 'missing', '0' }
end
if drift == '1' then
  owe_in_thread('notice', c.id, c.run)
  show(c)
  return { 'ok', 'verdict', 'pending', 'missing', needed }
end
return count_approval(c, c.edit_by, editor.edit_name, editor.edit_approval)
