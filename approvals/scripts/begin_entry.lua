-- Marks a message as being sent. Nothing when none is owed, or when another relay that still leads is sending it.
-- KEYS[1] the tenant's prefix
-- ARGV    entry, token
-- Returns the entry's hash as a flat list (empty: do not send), `sending` as it was before
local entry, token = unpack(ARGV)
local e = read(key.entry(entry), { 'sender', 'desired', 'delivered' })
local leader = read(key.lead, { 'token', 'until' })
if not e.desired or tonumber(e.delivered or 0) >= tonumber(e.desired) then return {} end
local leads = e.sender and e.sender ~= token and e.sender == leader.token and tonumber(leader['until']) > NOW
if leads then return {} end

local before = exec('HGETALL', key.entry(entry))
exec('HSET', key.entry(entry), 'sending', '1', 'sender', token)
return before
