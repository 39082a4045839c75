-- lanes: one list per rank and tenant, in the order of age: LPUSH in, claimed from the right.
-- A lane's name sorts by rank, highest first, then tenant. `lanes` holds those with messages, `ages` how old the
-- message at the claiming end is. A message in a list is a ticket: it counts only while its task says so.
local function rank_of(task)
  if task.op == 'delete' then return 10 end
  return tonumber(task.priority)
end

local function list_of(rank, tenant)
  if tenant == NAMES.home then
    return NAMES.lists[tostring(rank)] or NAMES.queue .. ':priority-' .. rank
  end
  return NAMES.queue .. ':priority-' .. rank .. ':' .. tenant
end

-- Where a job waits: in the list it was pushed to by another program, as long as that is a list for such jobs.
local function home_of(task)
  local rank = rank_of(task)
  if (task.origin or '') ~= '' then
    for _, inbox in ipairs(INBOXES) do
      if inbox.list == task.origin and inbox.rank == rank and inbox.tenant == task.tenant then return inbox.list end
    end
  end
  return list_of(rank, task.tenant)
end

-- The list its ticket lies in; a job that never moved has no word about it.
local function ticket_list(task)
  if task.ticket ~= '' then return task.ticket end
  return home_of(task)
end

local function lane_name(rank, tenant, list)
  return string.format('%02d', 10 - rank) .. tenant .. SEPARATOR .. list
end

local function own_ticket_of(element)
  return string.match(element, '^{"job_id":"([%w%._:%-]+)","seq":(%d+),"created_us":(%d+),')
end

-- Whose ticket it is, how old, and its number: ours begin so; others are known by their bytes while they wait.
local function ticket_of(element)
  local id, seq, at = own_ticket_of(element)
  if id then return id, tonumber(at), tonumber(seq) end
  id = call('HGET', K.elements, redis.sha1hex(element))
  if not id then return nil end
  local task = read(id)
  if not task then return id, tonumber(MICROS), 0 end
  return id, tonumber(task.created_us), tonumber(task.seq)
end

local function older(at, seq, other_at, other_seq)
  return at < other_at or (at == other_at and seq < other_seq)
end

-- Tickets that return: gathered until the script ends, then put into each list at once. A list of many thousands is
-- long to search, by value from its far end most of all; what returns belongs to the claiming end, where little stands
-- that is older. So as much is taken off as is older, and put back together with what returns.
local returning = {}
local WALK_MAX = 4096

-- A ticket takes the place its age gives it.
local function push(id, task)
  local list = home_of(task)
  local lane = lane_name(rank_of(task), task.tenant, list)
  ring()
  change(id, task, 'ticket', list)
  local tickets = returning[lane] or {list = list}
  returning[lane] = tickets
  tickets[#tickets + 1] = {element = task.element, at = tonumber(task.created_us), seq = tonumber(task.seq)}
end

local function is_older(one, other) return older(one.at, one.seq, other.at, other.seq) end

-- A message nobody has adopted yet has no age: whatever returns is older.
local function aged_of(element)
  local id, at, seq = ticket_of(element)
  return {element = element, at = id and at or math.huge, seq = seq or 0}
end

-- From the claiming end what is older than `youngest`, from the other one what is younger than `oldest`: read in
-- growing strides, no further than sides_of has looked.
local function older_than(list, youngest)
  local found, stride = {}, 8
  while stride > 0 do
    local page = call('LRANGE', list, -#found - stride, -#found - 1)
    for place = #page, 1, -1 do
      local other = aged_of(page[place])
      if not is_older(other, youngest) then return found end
      found[#found + 1] = other
    end
    if #page < stride then return found end
    stride = math.min(2 * stride, WALK_MAX - #found)
  end
  return found
end

local function younger_than(list, oldest)
  local found, stride = {}, 8
  while stride > 0 do
    local page = call('LRANGE', list, #found, #found + stride - 1)
    for _, element in ipairs(page) do
      local other = aged_of(element)
      if is_older(other, oldest) then return found end
      found[#found + 1] = other
    end
    if #page < stride then return found end
    stride = math.min(2 * stride, WALK_MAX - #found)
  end
  return found
end

-- The messages of two rows, each in the order `comes_first` gives.
local function merged(one, other, comes_first)
  local elements, at = {}, 1
  for _, ticket in ipairs(one) do
    while other[at] and comes_first(other[at], ticket) do
      elements[#elements + 1] = other[at].element
      at = at + 1
    end
    elements[#elements + 1] = ticket.element
  end
  for rest = at, #other do elements[#elements + 1] = other[rest].element end
  return elements
end

local function reversed(row)
  local turned = {}
  for at = #row, 1, -1 do turned[#turned + 1] = row[at] end
  return turned
end

-- Which of them belong to the claiming end, which deep in between, and which to the far end: clocks that differ leave a
-- ticket a few places from there.
local function sides_of(list, tickets)
  local length = call('LLEN', list)
  if length == 0 then return tickets, {}, {} end
  local many = math.min(WALK_MAX, length)
  local from_right, from_left = aged_of(call('LINDEX', list, -many)), aged_of(call('LINDEX', list, many - 1))
  local near, between, far = {}, {}, {}
  for _, ticket in ipairs(tickets) do
    if not is_older(from_right, ticket) then
      near[#near + 1] = ticket
    elseif length <= WALK_MAX or is_older(from_left, ticket) then
      far[#far + 1] = ticket
    else
      between[#between + 1] = ticket
    end
  end
  return near, between, far
end

-- How many stand before a ticket, seen from the claiming end.
local function place_in(list, length, ticket)
  local low, high = 0, length
  while low < high do
    local middle = math.floor((low + high) / 2)
    if is_older(aged_of(call('LINDEX', list, -middle - 1)), ticket) then low = middle + 1 else high = middle end
  end
  return low
end

-- Everything from the deepest place to an end is taken off and put back with the tickets between: from whichever end that
-- is less. `places` rise as the tickets grow younger.
local function interleave(list, length, tickets, places)
  local deepest, shallowest, elements = places[#places], places[1], {}
  if deepest <= length - shallowest then
    local taken, at = call('LRANGE', list, -deepest, -1), #tickets
    for index, element in ipairs(taken) do
      while at > 0 and places[at] > deepest - index do
        elements[#elements + 1] = tickets[at].element
        at = at - 1
      end
      elements[#elements + 1] = element
    end
    call('LTRIM', list, 0, -deepest - 1)
    return gathered('RPUSH', list, elements)
  end
  local taken, at = call('LRANGE', list, 0, length - shallowest - 1), 1
  for index = #taken, 1, -1 do
    while at <= #tickets and places[at] <= length - index do
      elements[#elements + 1] = tickets[at].element
      at = at + 1
    end
    elements[#elements + 1] = taken[index]
  end
  call('LTRIM', list, #taken, -1)
  return gathered('LPUSH', list, elements)
end

-- A few are put beside their neighbours, which are found by halves; many together, at the price of moving others, some
-- microseconds each. Where that would be too many, false: they go nearer to the claiming end than their age says.
local FEW_BETWEEN = 16
local MOVED_MAX = 100000
local function put_between(list, tickets)
  local length, places = call('LLEN', list), {}
  for at, ticket in ipairs(tickets) do
    places[at] = place_in(list, length, ticket)
    if #tickets <= FEW_BETWEEN then
      call('LINSERT', list, 'AFTER', call('LINDEX', list, -places[at] - 1), ticket.element)
      length = length + 1
    end
  end
  if #tickets <= FEW_BETWEEN then return true end
  if math.min(places[#places], length - places[1]) > MOVED_MAX then return false end
  interleave(list, length, tickets, places)
  return true
end

local function put_near(list, lane, near)
  local moved = older_than(list, near[#near])
  if #moved > 0 then call('LTRIM', list, 0, -#moved - 1) end
  gathered('RPUSH', list, reversed(merged(near, moved, is_older)))
  if #moved == 0 or is_older(near[1], moved[1]) then
    call('ZADD', K.lanes, 0, lane)
    call('ZADD', K.ages, near[1].at, lane)
  end
end

local function put_far(list, far)
  local moved = younger_than(list, far[1])
  if #moved > 0 then call('LTRIM', list, #moved, -1) end
  local youngest_first = merged(reversed(far), moved, function(one, other) return is_older(other, one) end)
  gathered('LPUSH', list, reversed(youngest_first))
end

function write_returning()
  for lane, tickets in pairs(returning) do
    table.sort(tickets, is_older)
    make_way(tickets.list)
    local near, between, far = sides_of(tickets.list, tickets)
    if #between > 0 and not put_between(tickets.list, between) then
      for _, ticket in ipairs(between) do near[#near + 1] = ticket end
    end
    if #near > 0 then put_near(tickets.list, lane, near) end
    if #far > 0 then put_far(tickets.list, far) end
  end
  returning = {}
end

-- It may be claimed now: by any worker, or by one that runs nothing else.
local function make_ready(id, task)
  if tonumber(task.crashes) >= 2 then
    change(id, task, 'place', 'suspect')
    count('suspect', 1)
    call('ZADD', K.suspects, task.created_us, string.format('%016d:', tonumber(task.seq)) .. id)
    ring()
    return
  end
  change(id, task, 'place', 'ready')
  count('ready', 1)
  push(id, task)
end

-- A ticket that lies in its list and counts no more; `stale` says of which jobs, for anybody may put a copy beside one.
local function leave_ticket(id)
  call('HINCRBY', K.stale, id, 1)
  count('stale', 1)
end

-- True if a ticket that does not count is one that was left.
local function drop_ticket(id)
  local lying = tonumber(call('HGET', K.stale, id) or 0)
  if lying < 1 then return false end
  if lying == 1 then call('HDEL', K.stale, id) else call('HINCRBY', K.stale, id, -1) end
  count('stale', -1)
  return true
end

-- Out of wherever it waits; its ticket, if it has one, is passed over when its turn comes.
local function withdraw(id, task)
  count(task.place, -1)
  if task.place == 'ready' then leave_ticket(id) end
  if task.due ~= '' then call('ZREM', K.due, id) end
  if task.place == 'suspect' then
    call('ZREM', K.suspects, string.format('%016d:', tonumber(task.seq)) .. id)
  elseif task.place == 'aside' then
    call('LREM', NAMES.root .. 'aside:' .. task.aside, 1, id)
  end
end
