-- Prelude 3 of 7: the inboxes, where reviewers find what waits for them, by deadline.
-- A batch whose card stands in Slack is in one group, named by the tiers that its open calls ask ("of:billing", and
-- "late:billing" once the next tier may decide too), and in one more for each reviewer who has approved all of them
-- ("answered:U1"). A group is four sorted sets: all, those of a radius, those of a requester, those of both.

-- Text that may stand in the name of a group: as urllib.parse.quote writes it.
local function quoted(text)
  return (string.gsub(text, '[^%w_.~-]', function(char) return string.format('%%%02X', string.byte(char)) end))
end

local function choices(b)
  local radius = redis.sha1hex(b.radius or '')
  return { '.', radius .. '.', '.' .. b.requester, radius .. '.' .. b.requester }
end

local function leave_group(group, b)
  for _, choice in ipairs(choices(b)) do exec('ZREM', key.inbox(group, choice), b.id) end
end

local function enter_group(group, b, by)
  for _, choice in ipairs(choices(b)) do exec('ZADD', key.inbox(group, choice), int(by), b.id) end
end

-- Under how many batches a name stands in a menu: what the filters offer. None, and it leaves the menu.
local function offer(menu, name, list)
  exec('ZADD', menu, exec('ZCARD', list), name)
  exec('ZREMRANGEBYSCORE', menu, '-inf', 0)
end

local function offer_group(group, b)
  local all, radius, requester = unpack(choices(b))
  offer(key.inbox_groups, group, key.inbox(group, all))
  offer(key.inbox_radii(group), b.radius or '', key.inbox(group, radius))
  offer(key.inbox_requesters(group), b.requester, key.inbox(group, requester))
end

-- What is asked of whom about this batch now: until when, of which tiers, and who has approved how many of its calls.
local function asked_about(b, open)
  local by, found, tiers, votes = tonumber(b.decide_by or 0), {}, {}, {}
  for _, id in ipairs(open) do
    local c = read(key.call(id), { 'tier', 'check_by' })
    by = math.max(by, tonumber(c.check_by or 0))
    found[quoted(c.tier or 'strictest')] = true
    for _, user in ipairs(exec('HKEYS', key.votes(id))) do votes[user] = (votes[user] or 0) + 1 end
  end
  for tier in pairs(found) do tiers[#tiers + 1] = tier end
  table.sort(tiers)
  return by, table.concat(tiers, ','), votes
end

-- Puts a batch where its reviewers look now, and nowhere else.
function to_inbox(batch)
  local b = read(key.batch(batch), { 'run', 'radius', 'decide_by', 'escalated_at', 'inbox', 'answered' })
  local open, group, answered = exec('SMEMBERS', key.batch_open(batch)), '', {}
  b.id, b.requester = batch, exec('HGET', key.run(b.run), 'requester') or ''
  for user in string.gmatch(b.answered or '', '%S+') do leave_group('answered:' .. user, b) end
  for before in string.gmatch(b.inbox or '', '%S+') do
    leave_group(before, b)
    offer_group(before, b)
  end
  if b.decide_by and #open > 0 then
    local by, tiers, votes = asked_about(b, open)
    group = (b.escalated_at and 'late:' or 'of:') .. tiers
    enter_group(group, b, by)
    offer_group(group, b)
    for user, times in pairs(votes) do
      if times == #open then
        answered[#answered + 1] = user
        enter_group('answered:' .. user, b, by)
      end
    end
  end
  exec('HDEL', key.batch(batch), 'inbox', 'answered')
  put(key.batch(batch), 'inbox', group, 'answered', table.concat(answered, ' '))
end

-- A decision is kept with its call, and the call among the last that the reviewer decided; longer while it is open,
-- since the reviewer is looked up again until it has run.
local DECIDED_LATELY = 20
local LOOKED_AT = 5 -- of those beyond, oldest first: whoever decides hundreds that stay open waits for none of them
local function keep_decision(c, reviewer, decision)
  exec('RPUSH', key.decisions(c.id), int(NOW) .. ' ' .. decision)
  if c.canary then return end -- nothing was decided by it
  exec('ZADD', key.decided(reviewer), int(NOW), c.id)
  local beyond = math.max(0, exec('ZCARD', key.decided(reviewer)) - DECIDED_LATELY)
  local most = int(math.min(beyond, LOOKED_AT))
  for _, id in ipairs(exec('ZRANGEBYSCORE', key.decided(reviewer), '-inf', '+inf', 'LIMIT', 0, most)) do
    if FINAL[exec('HGET', key.call(id), 'state')] then exec('ZREM', key.decided(reviewer), id) end
  end
  exec('SADD', key.deciders(c.id), reviewer)
  exec('SADD', key.watched, reviewer)
end

local function forget_deciders(id)
  for _, reviewer in ipairs(exec('SMEMBERS', key.deciders(id))) do
    exec('ZREM', key.decided(reviewer), id)
    if exec('EXISTS', key.decided(reviewer)) == 0 then exec('SREM', key.watched, reviewer) end
  end
  exec('DEL', key.deciders(id))
end
