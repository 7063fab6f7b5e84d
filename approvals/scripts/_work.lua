-- Prelude 6 of 6: whether a worker finds something to do, and how long people waited for it.
-- True when a worker could do something with this batch now.
local function has_work(batch)
  local b = read(key.batch(batch), { 'run', 'pause' })
  local judged, held = not waits_for_people(b.run, b.pause), held_back(b.run, b.pause)
  for _, id in ipairs(exec('LRANGE', key.batch_calls(batch), 0, -1)) do
    local c = read(key.call(id), { 'state', 'execute_by' })
    local open = c.state == 'approved' and c.execute_by and not held
    if open or (c.state == 'proposed' and judged) then return true end
  end
  return false
end

-- From the click that made the call claimable, the last of its batch, to the receipt. Nobody clicked for an auto call.
local function observe_click(c)
  local lapse_s = exec('HGET', key.batch(c.batch), 'lapse_s')
  if c.carded then observe('click_to_effect', math.max(0, NOW - (c.execute_by - lapse_s * 1000))) end
end
