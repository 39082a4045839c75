-- accepting: one job at a time, for scripts whose first own key is that of the form. What meets nothing (no id, key or subject of its own kind) takes the short way, and
-- its ticket leaves with those of its neighbours; whatever meets something is looked at by itself.
-- include: blank
local tickets, newcomers = {}, {}
local joined = 0

local function flush_tickets()
  for lane, pushed in pairs(tickets) do
    local _, newest_at, newest_seq = ticket_of(call('LINDEX', pushed.list, 0) or '')
    if newest_at and older(pushed.at, pushed.seq, newest_at, newest_seq) then
      for _, id in ipairs(pushed.ids) do push(id, load(id)) end
    else
      local before = call('LLEN', pushed.list)
      gathered('LPUSH', pushed.list, pushed.elements)
      if before == 0 then
        call('ZADD', K.lanes, 0, lane)
        call('ZADD', K.ages, pushed.at, lane)
      end
    end
  end
  tickets = {}
end

local function gather_ticket(id, task, element)
  local list = task.ticket
  local lane = lane_name(rank_of(task), task.tenant, list)
  local pushed = tickets[lane]
  if not pushed then
    pushed = {list = list, at = tonumber(task.created_us), seq = tonumber(task.seq), ids = {}, elements = {}}
    tickets[lane] = pushed
  end
  pushed.ids[#pushed.ids + 1] = id
  pushed.elements[#pushed.elements + 1] = element
end

local function join(batch, id, task)
  if batch == '' or call('SADD', batch_key(batch) .. ':jobs', id) == 0 then return end
  joined = joined + 1
  if task then
    change(id, task, 'batches', task.batches .. batch .. SEPARATOR)
    if task.place == 'done' or task.place == 'failed' then
      if task.place == 'failed' then call('ZADD', batch_key(batch) .. ':failed', task.finished_at, id) end
      count_in_batch(batch, task.place == 'done' and 1 or 0, task.place == 'failed' and 1 or 0)
    end
  end
end

-- What a delete does to the others of its subject: those that wait end, the one that runs is told.
local function reach(tenant, subject, except)
  local first = call('HGET', subjects_key(tenant), subject)
  if not first then return end
  local task = load(first)
  for _, other in ipairs(call('LRANGE', line_key({tenant = tenant, subject = subject}), 0, -1)) do
    if other ~= except and load(other) then supersede(other, load(other)) end
  end
  if not task then return end
  if task.place == 'leased' then
    tell_to_stop(first, task)
  elseif first ~= except then
    supersede(first, load(first))
  end
end

-- The latest deletion of each tenant that this list has met; most have none.
local generations = {}
local function generation_of(tenant)
  if not generations[tenant] then
    generations[tenant] = '0'
    if call('HEXISTS', K.closed, tenant) == 1 then
      local latest = call('ZREVRANGE', barriers_key(tenant), 0, 0, 'WITHSCORES')[2]
      generations[tenant] = string.format('%.0f', tonumber(latest or 0))
    end
  end
  return generations[tenant]
end

local function number_barrier(id, task)
  local number = take_numbers(1)
  call('ZADD', barriers_key(task.tenant), number, id)
  change(id, task, 'cleared', '')
  call('HSET', K.closed, task.tenant, '0')
  generations[task.tenant] = nil
  for _, other in ipairs(call('ZRANGE', barriers_key(task.tenant), 0, -1)) do
    local earlier = load(other)
    if not earlier then
      forget(other, nil, task)
      call('ZREM', barriers_key(task.tenant), other)
    elseif other ~= id and earlier.place == 'leased' then
      tell_to_stop(other, earlier)
    elseif other ~= id then
      supersede(other, earlier, DELETED)
    end
  end
  closing[task.tenant] = true
end

local function is_foreign(entry) return (entry.element or '') ~= '' end

-- Its place in its subject's line: the first goes on, others wait behind it.
local function stand_in_line(id, tenant, subject)
  local names = subjects_key(tenant)
  while not take_subject(tenant, subject, id) do
    local first = call('HGET', names, subject)
    local holder = first ~= id and load(first)
    if holder and holds(holder, subject) then
      call('RPUSH', line_key({tenant = tenant, subject = subject}), id)
      change(first, load(first), 'followed', '1')
      return false
    end
    -- Its row is gone; or it was the row of this very job, which somebody tells us again; or it has a life of its own.
    if not holder then forget(first, nil, {tenant = tenant, subject = subject, key = ''}) end
    leave_line(first, tenant, subject)
  end
  return true
end

-- The documented hash is alike for many: it is written once a collection and copied, which costs a fifth.
local FORM = own_key(1)
local formed = nil
local function fill_form(key, id, collection)
  tell(key, id, blank_fields(id, collection, '', STAMP))
end

local function write_status(entry)
  local key = hash_key(entry.id)
  if formed ~= entry.collection then
    fill_form(FORM, '', entry.collection)
    formed = entry.collection
  end
  if call('COPY', FORM, key) == 0 then fill_form(key, entry.id, entry.collection) end
  call('HSET', key, 'job_id', entry.id, 'filename', entry.filename)
  if entry.submitted_at ~= '' then call('HSET', key, 'submitted_at', entry.submitted_at) end
end

-- A job the book tells us again under another id is the same to whoever knows the first: from now on the hash of that
-- one tells of the job `id`, which runs in its place, and of no other.
local function speak_for_first(told, id, task)
  local first = string.match(told, '^(.-):again:')
  if not first or first == id then return end
  local before, last = load(first), resolve(first)
  if before and rawget(before, 'alias') then
    call('SREM', NAMES.root .. 'aliases:' .. before.alias, first)
    changed[first] = known_as(first, {alias = id})
  elseif last ~= id and load(last) then
    change(last, load(last), 'again', id)
    if last ~= first then call('SREM', NAMES.root .. 'aliases:' .. last, first) end
  end
  call('SADD', NAMES.root .. 'aliases:' .. id, first)
  if task.aliased == '' then change(id, task, 'aliased', '1') end
  local key, shown = hash_key(first), redis.pcall('HGETALL', hash_key(id))
  local submitted = redis.pcall('HGET', key, 'submitted_at')
  call('DEL', key .. ':ttl')
  tell(key, first, unpack(shown))
  call('HSET', key, 'job_id', first)
  if type(submitted) == 'string' then call('HSET', key, 'submitted_at', submitted) end
  call('PERSIST', key)
end

local next_seq, last_seq = 0, -1
local function number()
  if next_seq > last_seq then
    last_seq = take_numbers(1)
    next_seq = last_seq
  end
  next_seq = next_seq + 1
  return string.format('%.0f', next_seq - 1)
end

-- Numbers for a list of jobs at once.
local function reserve(many)
  last_seq = take_numbers(many)
  next_seq = last_seq - many + 1
end

-- Who looked at the clock first and came second is second; a clock that is further behind keeps its word.
local LATE_MICROS_MAX = 500000
local floors = {}
local function not_before(list)
  if not floors[list] then
    make_way(list)
    local _, newest_at = ticket_of(call('LINDEX', list, 0) or '')
    local late = newest_at and newest_at - tonumber(MICROS) or 0
    floors[list] = late > 0 and late <= LATE_MICROS_MAX and string.format('%.0f', newest_at) or MICROS
  end
  return floors[list]
end

local function create(entry, batch)
  local id, tenant = entry.id, entry.tenant
  local barrier = entry.item_type == 'delete_tenant'
  local created, created_us = NOW, MICROS
  if entry.created then
    created, created_us = entry.created, string.format('%.0f', tonumber(entry.created) * 1000000)
  elseif not barrier and entry.due == '' then
    created_us = not_before(list_of(rank_of(entry), tenant))
  end
  local generation = generation_of(tenant)
  if entry.op == 'delete' and not barrier then reach(tenant, entry.subject, id) end
  local seq = number()
  put_entry(id, entry.packed, entry.text)
  local task = known_as(id, {created_at = created, created_us = created_us, seq = seq, generation = generation})
  if entry.due ~= '' then task.due = entry.due end
  if batch ~= '' then task.batches = batch .. SEPARATOR end
  if is_foreign(entry) then task.foreign = '1' end
  local element = is_foreign(entry) and entry.element or element_of(id, seq, created_us, entry.tail)
  local first = barrier or stand_in_line(id, tenant, entry.subject)
  task.place = (not first and 'behind') or (entry.due ~= '' and 'delayed') or 'ready'
  local place = task.place
  changed[id] = task
  write_status(entry)
  newcomers[#newcomers + 1] = seq
  newcomers[#newcomers + 1] = id
  count(place, 1)
  join(batch, id, nil)
  if entry.due ~= '' then
    call('ZADD', K.due, entry.due, id)
    ring()
  end
  if is_foreign(entry) then call('HSET', K.elements, redis.sha1hex(element), id) end
  if barrier then
    flush_tickets()
    number_barrier(id, task)
  else
    owe(tenant, generation, 1)
  end
  if place == 'ready' and is_foreign(entry) then
    flush_tickets()
    push(id, task)
  elseif place == 'ready' then
    ring()
    task.ticket = list_of(rank_of(entry), tenant)
    gather_ticket(id, task, element)
  end
  speak_for_first(id, id, task)
end

local function document_of(body)
  return body ~= '' and cjson.decode(body).document_id or nil
end

-- Out of its subject's line, and to the end of another's.
local function move(id, task, subject)
  withdraw(id, task)
  if task.place == 'behind' then
    call('LREM', line_key(task), 1, id)
  else
    advance(id, task)
  end
  change(id, task, 'subject', subject, 'followed', '')
  if task.due ~= '' then call('ZADD', K.due, task.due, id) end
  if not stand_in_line(id, task.tenant, subject) then
    change(id, task, 'place', 'behind')
    count('behind', 1)
  elseif task.due ~= '' then
    change(id, task, 'place', 'delayed')
    count('delayed', 1)
  else
    make_ready(id, task)
  end
end

-- The document a later intent names is the job's from now on; one that names none leaves it as it is.
local function take_document(id, task, entry)
  local named, known = document_of(entry.body), document_of(task.body)
  if named and named ~= known then
    if entry.op == 'delete' then reach(task.tenant, task.subject, id) end
    move(id, task, entry.subject)
  elseif known and not named then
    local body = entry.body ~= '' and cjson.decode(entry.body) or {}
    body.document_id = known
    return cjson.encode(body)
  end
  return entry.body
end

-- A waiting job takes over a later intent; the higher priority stays, retries start anew.
local function replace(id, task, entry)
  local body = take_document(id, task, entry)
  local deletes = entry.op == 'delete'
  local deleting = task.op == 'delete' or task.delete_first == '1'
  local priority = math.max(tonumber(task.priority), tonumber(entry.priority))
  local both = not deletes and (deleting or entry.delete_first == '1')
  if task.due ~= '' then call('ZREM', K.due, id) end
  local list = ticket_list(task)
  local before, later = entry_for(id), {unpack(entry.packed)}
  later[1], later[6], later[13] = id, tostring(priority), both and '1' or '0'
  later[8], later[10] = task.subject, body
  -- Its message stays the one that waits, if one of the two is another program's.
  if task.foreign ~= '' or is_foreign(entry) then later[16] = before[16] end
  later[17], later[18] = before[17], before[18]
  put_entry(id, later)
  change(id, task, 'updated_at', NOW, 'due', entry.due, 'retry_count', '', 'parked_since', '')
  task.delete_first = nil
  if entry.due ~= '' then
    call('ZADD', K.due, entry.due, id)
    ring()
  end
  if task.place ~= 'behind' then
    if entry.due ~= '' then
      task.due = ''
      withdraw(id, task)
      task.due = entry.due
      change(id, task, 'place', 'delayed')
      count('delayed', 1)
    elseif task.place == 'delayed' then
      count('delayed', -1)
      make_ready(id, task)
    elseif task.place == 'ready' and list ~= home_of(task) then
      leave_ticket(id)
      push(id, task)
    end
  end
  if deletes and task.item_type == 'delete_tenant' then
    number_barrier(id, task)
  elseif deletes then
    reach(task.tenant, task.subject, id)
  end
end

local function add_alias(alias, id, task)
  changed[alias] = known_as(alias, {alias = id})
  call('SADD', NAMES.root .. 'aliases:' .. id, alias)
  if task.aliased == '' then change(id, task, 'aliased', '1') end
  local shown = redis.pcall('HGETALL', hash_key(id))
  if #shown > 0 then
    tell(hash_key(alias), alias, unpack(shown))
    call('HSET', hash_key(alias), 'job_id', alias)
  end
  speak_for_first(alias, id, task)
end

-- What became of the intent: the id that stands for it now, and how.
local function accept(entry, batch)
  local name = entry.tenant .. SEPARATOR .. entry.key
  if not entry.fresh then
    if load(resolve(entry.id)) then
      flush_tickets()
      local id = resolve(entry.id)
      join(batch, id, load(id))
      return id, 'existing'
    end
    -- An id of a job long gone lives again: its hash must not expire under it.
    call('DEL', hash_key(entry.id) .. ':ttl')
    call('PERSIST', hash_key(entry.id))
  end
  if call('HSETNX', K.waiting, name, entry.id) == 1 then
    create(entry, batch)
    return entry.id, 'created'
  end
  local waiting = call('HGET', K.waiting, name)
  flush_tickets()
  local task = load(waiting)
  if not task then
    forget(waiting, nil, entry)
    call('HSET', K.waiting, name, entry.id)
    create(entry, batch)
    return entry.id, 'created'
  end
  if task.item_type ~= 'delete_tenant' and tonumber(task.generation) < tonumber(generation_of(entry.tenant)) then
    supersede(waiting, task, DELETED)
    call('HSET', K.waiting, name, entry.id)
    create(entry, batch)
    return entry.id, 'created'
  end
  add_alias(entry.id, waiting, task)
  if entry.op == 'scan' then
    join(batch, waiting, task)
    return waiting, 'existing'
  end
  replace(waiting, task, entry)
  join(batch, waiting, load(waiting))
  return waiting, 'coalesced'
end

-- The first refusal of a list of entries, before anything is written; ids nobody has met are marked as fresh.
local function refusal_of(entries, batch)
  if batch ~= '' and call('HGET', batch_key(batch), 'sealed') ~= '0' then return {'batch', batch} end
  local seen = {}
  for _, entry in ipairs(entries) do
    local held = seen[entry.id]
    if not held then
      held = entry
      entry.fresh = not load(entry.id) and call('EXISTS', hash_key(entry.id) .. ':ttl') == 0
      if not entry.fresh then held = read(resolve(entry.id)) or entry end
      seen[entry.id] = held
    end
    if held.tenant ~= entry.tenant or held.key ~= entry.key then return {'taken', entry.id} end
  end
  return nil
end

local function write_accepted(batch)
  flush_tickets()
  if formed then call('DEL', FORM) end
  gathered('ZADD', K.jobs, newcomers)
  if joined > 0 then call('HINCRBY', batch_key(batch), 'total', joined) end
  clear_closing()
  write_counts()
end

-- In the order of submitting.py; what only an adopted message has is set by adopt.
local function entry_of(packed, text)
  return {packed = packed, text = text, id = packed[1], item_type = packed[2], op = packed[3], tenant = packed[4],
    collection = packed[5], priority = packed[6], key = packed[7], subject = packed[8], payload = packed[9],
    body = packed[10], due = packed[11], max_retries = packed[12], delete_first = packed[13], filename = packed[14],
    submitted_at = packed[15], tail = packed[16]}
end
