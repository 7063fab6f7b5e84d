-- A worker that claimed a call has gone: without an intent the call is approved again, with one it is unknown.
-- KEYS[1] the tenant's prefix
-- ARGV    call
-- Answers ok | repeated | not_found
local call = unpack(ARGV)
local c = load_call(call)
if c.state ~= 'executing' then
  drop_deadline('lease', call)
  return { c.state and 'repeated' or 'not_found' }
end
if tonumber(c.lease_until) > NOW then
  set_deadline('lease', call, c.lease_until)
  return { 'repeated' }
end

if c.intended then return abandon(c, 'the worker was lost while the tool ran') end
return unclaim(c, 'the worker was lost before the tool ran')
