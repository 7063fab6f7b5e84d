-- An approval no longer carries (authority, law or schema changed): the next version is decided anew.
-- KEYS[1] the tenant's prefix
-- ARGV    call, batch, token, epoch, reason, version (the next), content (encrypted), seal, needed, counts, law,
--         kept (for the ledger), tier
-- Answers ok {version, state} | repeated {version, state} | lapsed {execute_by} | lease_lost | wrong_state {state}
--         | stale_version {version} | not_found
local call, batch, token, epoch, reason, version, content, seal, needed, counts, law, kept, tier = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.batch ~= batch or not holds_batch(batch, token, epoch) then return { 'lease_lost' } end
if c.version == version and c.seal == seal and (c.state == 'pending_review' or c.state == 'proposed') then
  return { 'repeated', 'version', c.version, 'state', c.state }
end
if c.state ~= 'approved' then return { 'wrong_state', 'state', c.state } end
if tonumber(version) ~= c.version + 1 then return { 'stale_version', 'version', c.version } end

return send_back(c, 'revoked', reason, version, content, seal, needed, counts, law, kept, tier)
