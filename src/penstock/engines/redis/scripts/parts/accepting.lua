-- accepting: one job at a time. What meets nothing (no id, key or subject of its own kind) takes the short way, and
-- its ticket leaves with those of its neighbours; whatever meets something is looked at by itself.
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

local function gather_ticket(id, task, list, element)
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
    if other ~= except then supersede(other, load(other)) end
  end
  if task.place == 'leased' then
    tell_to_stop(first, task)
  elseif first ~= except then
    supersede(first, load(first))
  end
end

local function number_barrier(id, task)
  local number = call('HINCRBY', K.counts, 'seq', 1)
  call('ZADD', barriers_key(task.tenant), number, id)
  change(id, task, 'cleared', '')
  call('HSET', K.closed, task.tenant, '0')
  for _, other in ipairs(call('ZRANGE', barriers_key(task.tenant), 0, -1)) do
    local earlier = load(other)
    if other ~= id and earlier.place == 'leased' then tell_to_stop(other, earlier) end
    if other ~= id and earlier.place ~= 'leased' then supersede(other, earlier, DELETED) end
  end
  closing[task.tenant] = true
end

local function generation_of(tenant)
  if call('HEXISTS', K.closed, tenant) == 0 then return '0' end
  return string.format('%.0f', tonumber(call('ZREVRANGE', barriers_key(tenant), 0, 0, 'WITHSCORES')[2] or 0))
end

local function element_of(entry, seq)
  if entry.element ~= '' then return entry.element end
  return '{"job_id":"' .. entry.id .. '","seq":' .. seq .. ',"created_us":' .. MICROS .. entry.tail
end

local function create(entry, batch)
  local id, tenant, subject = entry.id, entry.tenant, entry.subject
  local seq = string.format('%.0f', call('HINCRBY', K.counts, 'seq', 1))
  local created, created_us = NOW, MICROS
  if entry.created ~= '' then
    created, created_us = entry.created, string.format('%.0f', tonumber(entry.created) * 1000000)
  end
  local barrier = entry.item_type == 'delete_tenant'
  local generation = generation_of(tenant)
  if entry.op == 'delete' and not barrier then reach(tenant, subject, id) end
  local first = barrier or call('HSETNX', subjects_key(tenant), subject, id) == 1
  local element = element_of(entry, seq)
  local task = {op = entry.op, priority = entry.priority, tenant = tenant, created_us = created_us, seq = seq,
    origin = entry.origin}
  local list = home_of(task)
  local place = (not first and 'behind') or (entry.due ~= '' and 'delayed') or 'ready'
  call('HSET', task_key(id), 'item_type', entry.item_type, 'op', entry.op, 'tenant', tenant,
    'collection', entry.collection, 'priority', entry.priority, 'payload', entry.payload, 'key', entry.key,
    'subject', subject, 'created_at', created, 'created_us', created_us, 'updated_at', NOW, 'seq', seq,
    'branch', entry.branch, 'metadata', entry.metadata, 'document_id', entry.document_id,
    'max_retries', entry.max_retries, 'retry_count', '0', 'crashes', '0', 'place', place, 'due', entry.due,
    'delete_first', entry.delete_first, 'replay_of', entry.replay_of, 'generation', generation,
    'element', element, 'ticket', place == 'ready' and list or '', 'batches', batch ~= '' and batch .. SEPARATOR or '')
  call('HSET', hash_key(id), 'job_id', id, 'rag_id', entry.collection, 'filename', entry.filename, 'status', 'queued',
    'submitted_at', entry.submitted_at ~= '' and entry.submitted_at or STAMP, 'started_at', '', 'completed_at', '',
    'duration_seconds', '', 'chunks_created', '0', 'embeddings_generated', '0', 'tokens_used', '0',
    'error', '', 'error_type', '', 'retry_count', '0')
  if call('DEL', hash_key(id) .. ':ttl') == 1 then call('PERSIST', hash_key(id)) end
  call('HSET', K.waiting, tenant .. SEPARATOR .. entry.key, id)
  newcomers[#newcomers + 1] = seq
  newcomers[#newcomers + 1] = id
  count(place, 1)
  join(batch, id, nil)
  if entry.due ~= '' then
    call('ZADD', K.due, entry.due, id)
    ring()
  end
  if entry.element ~= '' then
    call('HSET', task_key(id), 'foreign', '1', 'origin', entry.origin)
    call('HSET', K.elements, redis.sha1hex(element), id)
  end
  if barrier then
    flush_tickets()
    number_barrier(id, load(id))
  else
    owe(tenant, generation, 1)
  end
  if place == 'ready' and entry.element ~= '' then
    flush_tickets()
    push(id, load(id))
  elseif place == 'ready' then
    ring()
    gather_ticket(id, task, list, element)
  elseif place == 'behind' then
    call('RPUSH', line_key({tenant = tenant, subject = subject}), id)
    call('HSET', task_key(call('HGET', subjects_key(tenant), subject)), 'followed', '1')
  end
end

-- A waiting job takes over a later intent; the higher priority stays, retries start anew.
local function replace(id, task, entry)
  local deletes = entry.op == 'delete'
  local deleting = task.op == 'delete' or task.delete_first == '1'
  local priority = math.max(tonumber(task.priority), tonumber(entry.priority))
  local both = not deletes and (deleting or entry.delete_first == '1')
  if task.due ~= '' then call('ZREM', K.due, id) end
  local element = task.element
  if task.foreign == '' and entry.element == '' then
    element = '{"job_id":"' .. id .. '","seq":' .. task.seq .. ',"created_us":' .. task.created_us .. entry.tail
  end
  change(id, task, 'op', entry.op, 'payload', entry.payload, 'priority', tostring(priority), 'updated_at', NOW,
    'due', entry.due, 'max_retries', entry.max_retries, 'branch', entry.branch, 'metadata', entry.metadata,
    'retry_count', '0', 'parked_since', '', 'delete_first', both and '1' or '0', 'element', element)
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
    elseif task.place == 'ready' and task.ticket ~= home_of(task) then
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
  call('HSET', task_key(alias), 'alias', id)
  call('SADD', NAMES.root .. 'aliases:' .. id, alias)
  if task.aliased == '' then change(id, task, 'aliased', '1') end
  local shown = call('HGETALL', hash_key(id))
  if #shown > 0 then
    call('HSET', hash_key(alias), unpack(shown))
    call('HSET', hash_key(alias), 'job_id', alias)
  end
end

-- What became of the intent: the id that stands for it now, and how.
local function accept(entry, batch)
  local name = entry.tenant .. SEPARATOR .. entry.key
  local known = call('HMGET', task_key(entry.id), 'alias', 'tenant')
  if known[1] or known[2] then
    flush_tickets()
    local id = known[1] or entry.id
    join(batch, id, load(id))
    return id, 'existing'
  end
  local waiting = call('HGET', K.waiting, name)
  if not waiting then
    create(entry, batch)
    return entry.id, 'created'
  end
  flush_tickets()
  local task = load(waiting)
  if task.item_type ~= 'delete_tenant' and tonumber(task.generation) < tonumber(generation_of(entry.tenant)) then
    supersede(waiting, task, DELETED)
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

-- The first refusal of a list of entries, before anything is written.
local function refusal_of(entries, batch)
  if batch ~= '' and call('HGET', batch_key(batch), 'sealed') ~= '0' then return {'batch', batch} end
  local seen = {}
  for _, entry in ipairs(entries) do
    local held = seen[entry.id]
    if not held then
      held = call('HMGET', task_key(entry.id), 'tenant', 'key', 'alias')
      if held[3] then held = call('HMGET', task_key(held[3]), 'tenant', 'key') end
      if not held[1] then held = {entry.tenant, entry.key} end
      seen[entry.id] = held
    end
    if held[1] ~= entry.tenant or held[2] ~= entry.key then return {'taken', entry.id} end
  end
  return nil
end

local function write_accepted(batch)
  flush_tickets()
  gathered('ZADD', K.jobs, newcomers)
  if joined > 0 then call('HINCRBY', batch_key(batch), 'total', joined) end
  clear_closing()
  write_counts()
end

local FIELDS = {'id', 'item_type', 'op', 'tenant', 'collection', 'priority', 'key', 'subject', 'payload', 'metadata',
  'branch', 'document_id', 'due', 'max_retries', 'replay_of', 'delete_first', 'filename', 'submitted_at', 'tail',
  'element', 'created', 'origin'}
local function entry_of(packed)
  local entry = {}
  for place, name in ipairs(FIELDS) do entry[name] = packed[place] end
  return entry
end
