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

-- Into a list that has messages on both sides of it: walk in from both ends by growing strides, not for ever. Clocks
-- that differ a little leave it a few places from the left; what returns late, a few from the right.
local WALK_MAX = 4096
local function insert_between(list, element, at, seq)
  local from, stride = 0, 8
  local length = call('LLEN', list)
  while from < math.min(length, WALK_MAX) do
    for _, other in ipairs(call('LRANGE', list, from, from + stride - 1)) do
      local _, other_at, other_seq = ticket_of(other)
      if other_at and older(other_at, other_seq, at, seq) then
        call('LINSERT', list, 'BEFORE', other, element)
        return true
      end
    end
    local right = call('LRANGE', list, -from - stride, -from - 1)
    for place = #right, 1, -1 do
      local _, other_at, other_seq = ticket_of(right[place])
      if other_at and older(at, seq, other_at, other_seq) then
        call('LINSERT', list, 'AFTER', right[place], element)
        return from > 0 or place < #right
      end
    end
    from, stride = from + stride, stride * 2
  end
  call('RPUSH', list, element)
  return false
end

-- A ticket takes the place its age gives it.
local function push(id, task)
  local rank = rank_of(task)
  local list = home_of(task)
  local element, at, seq = task.element, tonumber(task.created_us), tonumber(task.seq)
  ring()
  change(id, task, 'ticket', list)
  local _, newest_at, newest_seq = ticket_of(call('LINDEX', list, 0) or '')
  local lane = lane_name(rank, task.tenant, list)
  if newest_at and older(newest_at, newest_seq, at, seq) then
    call('LPUSH', list, element)
    return
  end
  local oldest = call('LINDEX', list, -1)
  local _, oldest_at, oldest_seq = ticket_of(oldest or '')
  if oldest_at and not older(at, seq, oldest_at, oldest_seq) then
    if insert_between(list, element, at, seq) then return end
  else
    call('RPUSH', list, element)
  end
  call('ZADD', K.lanes, 0, lane)
  call('ZADD', K.ages, task.created_us, lane)
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

-- Out of wherever it waits; its ticket, if it has one, is passed over when its turn comes.
local function withdraw(id, task)
  count(task.place, -1)
  if task.place == 'ready' then count('stale', 1) end
  if task.due ~= '' then call('ZREM', K.due, id) end
  if task.place == 'suspect' then
    call('ZREM', K.suspects, string.format('%016d:', tonumber(task.seq)) .. id)
  elseif task.place == 'aside' then
    call('LREM', NAMES.root .. 'aside:' .. task.aside, 1, id)
  end
end
