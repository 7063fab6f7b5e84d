-- Drift was found after the claim and before the intent: the next version is decided anew, the caps are given back.
-- KEYS[1] the tenant's prefix
-- ARGV    call, token, reason, version (the next), content (encrypted), seal, needed, counts, law,
--         kept (for the ledger), tier
-- Answers ok {version, state} | repeated {version, state} | lapsed {execute_by} | lease_lost | wrong_state {state}
--         | not_found
local call, token, reason, version, content, seal, needed, counts, law, kept, tier = unpack(ARGV)
local c = load_call(call)
if not c.state then return { 'not_found' } end
if c.version == version and c.seal == seal and (c.state == 'pending_review' or c.state == 'proposed') then
  return { 'repeated', 'version', c.version, 'state', c.state }
end
if c.state ~= 'executing' or c.intended then return { 'wrong_state', 'state', c.state } end
if c.token ~= token or tonumber(version) ~= c.version + 1 then return { 'lease_lost' } end

return send_back(c, 'released', reason, version, content, seal, needed, counts, law, kept, tier)
