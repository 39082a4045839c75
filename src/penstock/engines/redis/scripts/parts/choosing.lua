-- choosing: which messages are next, by the whole rule. Lanes are read from their claiming end in portions, trimmed
-- together at the end. A lane's `head` is its first message that counts: a ready job, or a stranger's message.
local PARKED_MAX = 5000
local parked = 0
local lanes = {}
local closed, paused, room = {}, {tenant = {}, collection = {}, type = {}}, {}
local barred = {}
local anything_paused = false

local function read_pauses()
  local everything = false
  local known = call('HKEYS', K.pauses)
  for _, name in ipairs(known) do
    local scope, what = string.match(name, '^(%a+):(.*)$')
    if scope == 'all' then everything = true else paused[scope][what] = true end
  end
  anything_paused = #known > 0
  return everything
end

local function pause_of(task)
  if not anything_paused then return nil end
  if paused.collection[task.collection] then return 'collection:' .. task.collection end
  if paused.type[task.item_type] then return 'type:' .. task.item_type end
  return nil
end

local function has_room(tenant, limit)
  if limit == 0 then return true end
  if not room[tenant] then room[tenant] = limit - tonumber(call('HGET', K.tenants, tenant) or 0) end
  return room[tenant] > 0
end

local function is_suspended(tenant, limit) return paused.tenant[tenant] or not has_room(tenant, limit) end

-- Deletions whose way is clear: the only job of their tenant that may run.
local function read_barriers(limit)
  for _, tenant in ipairs(call('HKEYS', K.closed)) do
    closed[tenant] = true
    local first = call('ZRANGE', barriers_key(tenant), 0, 0)[1]
    local task = first and load(first)
    if task and task.cleared == '1' and not is_suspended(tenant, limit) then
      if (task.place == 'ready' or task.place == 'suspect') and not pause_of(task) then
        barred[tenant] = {id = first, task = task, barrier = true, at = tonumber(task.created_us),
          number = tonumber(task.seq)}
      end
    end
  end
end

-- A message met while its collection or type is paused steps aside, so it is met only once.
local function set_aside(task, pause)
  change(task.id, task, 'place', 'aside', 'aside', pause, 'ticket', '')
  call('RPUSH', NAMES.root .. 'aside:' .. pause, task.id)
  count('ready', -1)
  count('aside', 1)
  parked = parked + 1
end

local function lane_of(name)
  local lane = lanes[name]
  if lane then return lane end
  local rank, tenant, list = string.match(name, '^(%d%d)(.-)' .. SEPARATOR .. '(.*)$')
  lane = {name = name, rank = 10 - tonumber(rank), tenant = tenant, list = list, seen = 0, ahead = {}, portion = 2}
  lanes[name] = lane
  return lane
end

-- What a message at the claiming end is: a head, or nil if it counts for nothing.
local function head_of(lane, element)
  local id, at, number = ticket_of(element)
  if not id then return {element = element, list = lane.list, stranger = true} end
  local task = read(id)
  if not task then
    -- Somebody may have put it back long after its job had gone, or its job's row is gone: then it is any message.
    if drop_ticket(id) then return nil end
    forget(id, 'ready')
    call('HDEL', K.elements, redis.sha1hex(element))
    return {element = element, list = lane.list, stranger = true}
  end
  if task.place ~= 'ready' or ticket_list(task) ~= lane.list then
    drop_ticket(id)
    return nil
  end
  local pause = pause_of(task)
  if pause then
    set_aside(task, pause)
    return nil
  end
  return {task = task, element = element, at = at, number = number}
end

-- The next messages of a lane, with what is known of their jobs.
local function look_further(lane, limit)
  lane.portion = math.min(lane.portion * 2, math.max(limit, 4), 512)
  lane.ahead = redis.pcall('LRANGE', lane.list, -lane.seen - lane.portion, -lane.seen - 1)
  if lane.ahead.err then
    make_way(lane.list)
    lane.ahead = {}
  end
  local ids = {}
  for _, element in ipairs(lane.ahead) do ids[#ids + 1] = own_ticket_of(element) end
  if #ids > 0 then prefetch(ids) end
  return #lane.ahead > 0
end

local function look(lane, limit)
  if lane.head or lane.spent then return lane.head end
  if closed[lane.tenant] then
    local deletion = lane.rank == 10 and barred[lane.tenant]
    if deletion and deletion.task.place == 'ready' and not deletion.taken then return deletion end
    return nil
  end
  while parked < PARKED_MAX do
    if #lane.ahead == 0 and not look_further(lane, limit) then
      lane.spent = true
      return nil
    end
    local element = table.remove(lane.ahead)
    lane.seen = lane.seen + 1
    lane.head = head_of(lane, element)
    if lane.head then
      if lane.head.stranger then
        lane.head.at, lane.head.number = tonumber(call('ZSCORE', K.ages, lane.name) or MICROS), 0
      end
      return lane.head
    end
  end
  return nil
end

local function may_run(lane, limit)
  if closed[lane.tenant] then return lane.rank == 10 and barred[lane.tenant] and has_room(lane.tenant, limit) end
  return not is_suspended(lane.tenant, limit)
end

-- Tenants of a rank in turn, beginning after the one served last; those served come round again.
local ring_now = nil
local function open_rank(prefix)
  local turn = call('HGET', K.turns, prefix) or prefix
  ring_now = {prefix = prefix, start = turn, cursor = turn, served = {}, fresh = {}, wrapped = false}
end

local function fresh_lane(chunk)
  local wheel = ring_now
  if wheel.round then return nil end
  while #wheel.fresh == 0 do
    local upto = wheel.wrapped and '[' .. wheel.start or '(' .. wheel.prefix .. '\255'
    local found = call('ZRANGEBYLEX', K.lanes, '(' .. wheel.cursor, upto, 'LIMIT', 0, chunk)
    if #found == 0 then
      if wheel.wrapped or wheel.start == wheel.prefix then
        wheel.round = true
        return nil
      end
      wheel.wrapped, wheel.cursor = true, wheel.prefix
    else
      wheel.cursor = found[#found]
      for at = #found, 1, -1 do wheel.fresh[#wheel.fresh + 1] = found[at] end
    end
  end
  return lane_of(table.remove(wheel.fresh))
end

local function next_rank()
  local after = ring_now and '(' .. ring_now.prefix .. '\255' or '-'
  local found = call('ZRANGEBYLEX', K.lanes, after, '+', 'LIMIT', 0, 1)[1]
  if not found then return false end
  open_rank(string.sub(found, 1, 2))
  return true
end

local function in_turn(limit, tenant_limit)
  if not ring_now and not next_rank() then return nil end
  while true do
    local lane = fresh_lane(limit + 8)
    while lane do
      if may_run(lane, tenant_limit) and look(lane, limit) then
        table.insert(ring_now.served, lane)
        return lane
      end
      lane = fresh_lane(limit + 8)
    end
    while #ring_now.served > 0 do
      lane = table.remove(ring_now.served, 1)
      if may_run(lane, tenant_limit) and look(lane, limit) then
        table.insert(ring_now.served, lane)
        return lane
      end
    end
    if not next_rank() then return nil end
  end
end

-- The longest-waiting of all: `ages` says where to look, lanes already looked into say it themselves.
local aged = {from = 0, page = {}}
local function peek_age()
  if #aged.page == 0 then
    local found = call('ZRANGE', K.ages, aged.from, aged.from + 31, 'WITHSCORES')
    aged.from = aged.from + #found / 2
    for at = #found - 1, 1, -2 do aged.page[#aged.page + 1] = {found[at], tonumber(found[at + 1])} end
  end
  return aged.page[#aged.page]
end

local function longest_waiting(limit, tenant_limit)
  local best = nil
  local function compare(lane)
    if not may_run(lane, tenant_limit) then return end
    local head = look(lane, limit)
    if head and (not best or older(head.at, head.number, best.head.at, best.head.number)) then
      best = {lane = lane, head = head}
    end
  end
  for tenant in pairs(barred) do
    compare(lane_of(lane_name(10, tenant, list_of(10, tenant))))
  end
  for _, lane in pairs(lanes) do compare(lane) end
  local next_one = peek_age()
  while next_one and (not best or next_one[2] <= best.head.at) do
    table.remove(aged.page)
    if not lanes[next_one[1]] then compare(lane_of(next_one[1])) end
    next_one = peek_age()
  end
  return best and best.lane
end

-- Lists as they are left: what was taken, set aside or dead is cut off; `ages` knows the next one.
local function write_lanes()
  for _, lane in pairs(lanes) do
    local gone = lane.seen - (lane.head and 1 or 0)
    if not closed[lane.tenant] then
      if gone > 0 then call('LTRIM', lane.list, 0, -gone - 1) end
      local oldest = gone > 0 or lane.spent
      oldest = oldest and call('LINDEX', lane.list, -1)
      if oldest then
        local _, at = ticket_of(oldest)
        call('ZADD', K.ages, at or MICROS, lane.name)
      elseif gone > 0 or lane.spent then
        call('ZREM', K.lanes, lane.name)
        call('ZREM', K.ages, lane.name)
      end
    end
  end
end
