-- claim: lease up to so many ready jobs to a worker. Messages nobody knows yet are moved to its processing list too
-- and handed back as strangers, to be adopted. Returns {alone, more, leases, strangers, {}, '', the lists of messages that
-- were too large and put away}: a lease is what lease_of says; the straight way has something between.
-- ARGV[4] worker; ARGV[5] limit; ARGV[6] 1 if the worker is idle; ARGV[7] every so manieth claim takes the longest
-- waiting; ARGV[8] jobs a tenant may run at once; ARGV[9] the end of a lease by item type, packed; ARGV[10] a name of
-- this request: sent again after a lost reply, it is answered with what it got the first time. Its own keys: the
-- worker's processing list, what it was answered last, messages it could not adopt.
-- include: straight
-- include: ground
-- include: urgent
-- include: status
-- include: lanes
-- include: lines
-- include: choosing
local worker, limit, idle = ARGV[4], tonumber(ARGV[5]), ARGV[6] == '1'
local every, tenant_limit = tonumber(ARGV[7]), tonumber(ARGV[8])
local ends = cmsgpack.unpack(ARGV[9])
local leases, strangers = {}, {}
local processing, answered, unadopted_key = own_key(1), own_key(2), own_key(3)
local taken_ids, taken_elements, taken_scores, waiting_no_more = {}, {}, {}, {}

-- A lease: {id, token, until, entry, retry_count, crashes, delete_first}.
local function lease_of(task, token, upto)
  return {task.id, token, upto, text_of(task.id) or '', task.retry_count, task.crashes, task.delete_first}
end

-- All leases of the straight way have one token. Their messages are in the worker's hands, the first one last; anybody may
-- have taken some of them out.
local function held_by_token(wanted)
  local ids, met = {}, {}
  local function meet(id)
    local task = id and not met[id] and read(id)
    if not task or task.worker ~= worker or tonumber(task.token) ~= wanted then return end
    met[id] = true
    ids[#ids + 1] = id
  end
  local elements = call('LRANGE', processing, 0, -1)
  for at = #elements, 1, -1 do meet(own_ticket_of(elements[at])) end
  local running_ids = call('ZRANGE', K.running, 0, -1)
  prefetch(running_ids)
  for _, id in ipairs(running_ids) do meet(id) end
  return ids
end

local function answer_again(packed)
  for _, id in ipairs(packed.ids or held_by_token(packed.token)) do
    local task = read(id)
    if task and task.place == 'leased' and task.worker == worker and tonumber(task.token) <= packed.token then
      leases[#leases + 1] = lease_of(task, task.token, task['until'])
    end
  end
  return {packed.alone or 0, 1, leases, packed.strangers or {}}
end

local request = ARGV[10] .. SEPARATOR
local before = call('GET', answered)
if before and string.sub(before, 1, #request) == request then
  return answer_again(cmsgpack.unpack(string.sub(before, #request + 1)))
end
if read_pauses() then return {0, 0, leases, strangers} end
read_barriers(tenant_limit)

for _, inbox in ipairs(INBOXES) do
  local length = length_of(inbox.list)
  if not length then make_way(inbox.list) end
  if length and length > 0 then
    local lane = lane_name(inbox.rank, inbox.tenant, inbox.list)
    call('ZADD', K.lanes, 0, lane)
    call('ZADD', K.ages, 'NX', MICROS, lane)
  end
end

-- What this worker took before and could not adopt, because the server was gone or full, is handed to it again.
local unadopted = call('HGETALL', unadopted_key)
for at = 1, #unadopted, 2 do
  local list, age = string.match(unadopted[at + 1], '^(.*)' .. SEPARATOR .. '(%d+)$')
  strangers[#strangers + 1] = {unadopted[at], list, age}
end
local left_over = #strangers

local seen = call('HMGET', K.counts, 'claims', 'token')
local claims, token = tonumber(seen[1] or 0), tonumber(seen[2] or 0)

-- What one answer may weigh: a client takes no larger one, so beyond it the rest waits for the next claim. A message
-- that weighs more by itself is no message: its bytes go to a key of their own, and the dead letter names that.
local bytes, put_aways = 0, {}
local function put_away(head)
  put_aways[#put_aways + 1] = head.list
  local key = NAMES.root .. 'oversized:' .. redis.sha1hex(head.element)
  call('SET', key, head.element, 'EX', NAMES.expiry)
  push_left(K.dead_letter, cjson.encode({
    message = (string.gsub(string.sub(head.element, 1, 200), '[^\32-\126]', '?')), message_key = key,
    reason = 'the message has ' .. #head.element .. ' bytes, the limit is ' .. ANSWER_BYTES_MAX,
    code = 'ERR_PAYLOAD_TOO_LARGE', failed_at = STAMP, origin_queue = head.list}))
end

local function lease(task, element)
  bytes = bytes + #(text_of(task.id) or '')
  token = math.max(token + 1, tonumber(MICROS), tonumber(task.token ~= '' and task.token or 0) + 1)
  local text = string.format('%.0f', token)
  local upto = ends[task.item_type] or ends['']
  count(task.place, -1)
  task.place, task.worker, task['until'], task.started_at, task.token = 'leased', worker, upto, NOW, text
  changed[task.id] = task
  show(task.id, task, 'status', 'processing', 'started_at', STAMP)
  run(task.tenant, 1)
  if tenant_limit > 0 and has_room(task.tenant, tenant_limit) then room[task.tenant] = room[task.tenant] - 1 end
  taken_ids[#taken_ids + 1] = task.id
  -- A later intent may have changed its message while the first one lay in the list.
  taken_elements[#taken_elements + 1] = element and not rawget(task, 'updated_at') and element or task.element
  taken_scores[#taken_scores + 1] = micros_of(upto)
  taken_scores[#taken_scores + 1] = task.id
  waiting_no_more[#waiting_no_more + 1] = task.tenant .. SEPARATOR .. task.key
  leases[#leases + 1] = lease_of(task, text, upto)
end

local function find_suspect()
  for _, name in ipairs(call('ZRANGE', K.suspects, 0, -1)) do
    local id = string.match(name, '^%d+:(.*)$')
    local task = load(id)
    if not task then
      call('ZREM', K.suspects, name)
      forget(id, 'suspect')
    else
      local deletion = barred[task.tenant]
      local open = not closed[task.tenant] and not is_suspended(task.tenant, tenant_limit)
      if (open or (deletion and deletion.id == task.id)) and not pause_of(task) then
        call('ZREM', K.suspects, name)
        return task
      end
    end
  end
  return nil
end

local suspect = idle and limit > 0 and call('ZCARD', K.suspects) > 0 and find_suspect()
if suspect then
  lease(suspect)
else
  local number = claims
  local turned = {}
  while #leases + #strangers < limit and parked < PARKED_MAX and bytes < ANSWER_BYTES_MAX do
    number = number + 1
    local longest = every > 0 and number % every == 0
    local lane
    if longest then lane = longest_waiting(limit, tenant_limit) else lane = in_turn(limit, tenant_limit) end
    if not lane then break end
    local head = look(lane, limit)
    if head.barrier then
      head.taken = true
      if call('LREM', ticket_list(head.task), -1, head.task.element) == 0 then leave_ticket(head.id) end
    else
      lane.head = nil
    end
    if head.stranger then bytes = bytes + #head.element end
    if head.stranger and #head.element > ANSWER_BYTES_MAX then
      put_away(head)
    elseif head.stranger then
      strangers[#strangers + 1] = {head.element, head.list, string.format('%.0f', head.at)}
    else
      lease(head.task, head.element)
      if not longest then turned[string.format('%02d', 10 - lane.rank)] = lane.name end
    end
  end
  for rank, lane in pairs(turned) do call('HSET', K.turns, rank, lane) end
  write_lanes()
end

if #leases > 0 then
  gathered('ZADD', K.running, taken_scores)
  gathered('HDEL', K.waiting, waiting_no_more)
  gathered('LPUSH', processing, taken_elements)
  call('HINCRBY', K.counts, 'claims', #leases)
  call('HSET', K.counts, 'token', string.format('%.0f', token))
end
for at = left_over + 1, #strangers do
  -- The same bytes twice ask for the same job: once is enough.
  local element, origin = strangers[at][1], strangers[at][2] .. SEPARATOR .. strangers[at][3]
  if call('HSETNX', unadopted_key, element, origin) == 1 then
    call('LPUSH', processing, element)
  end
end
if #leases + #strangers > 0 then
  call('SET', answered, request .. cmsgpack.pack({ids = taken_ids, token = token, strangers = strangers,
    alone = suspect and 1 or 0}), 'EX', 3600)
end
write_counts()
return {suspect and 1 or 0, (parked >= PARKED_MAX or bytes >= ANSWER_BYTES_MAX) and 1 or 0, leases, strangers, {}, '',
  put_aways}
