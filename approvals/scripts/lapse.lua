-- An approval that was not used in time goes stale, and so does a held call that nobody judged again.
-- KEYS[1] the tenant's prefix
-- ARGV    call
-- Answers ok | repeated | not_found
local call = unpack(ARGV)
local c = load_call(call)
if (c.state ~= 'approved' and c.state ~= 'proposed') or not c.execute_by then
  drop_deadline('lapse', call)
  return { c.state and 'repeated' or 'not_found' }
end
if tonumber(c.execute_by) > NOW then
  set_deadline('lapse', call, c.execute_by)
  return { 'repeated' }
end

lapse(c, 'not executed in time')
return { 'ok' }
