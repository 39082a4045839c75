-- settling: what becomes of a leased job when its attempt has ended.
local function is_held(task, token) return task and task.place == 'leased' and task.token == token end

-- It would wait again, unless a later intent with its key waits already: that one stays, with the delete if need be.
local function wait_again(id, task, verdict)
  local successor = call('HGET', K.waiting, waiting_name(task))
  if successor and not load(successor) then
    forget(successor, nil, task)
    successor = nil
  end
  if successor then
    if task.op == 'delete' or task.delete_first == '1' then
      local later = load(successor)
      if later.op ~= 'delete' then change(successor, later, 'delete_first', '1') end
    end
    change(id, task, 'retry_count', verdict.retry_count, 'crashes', verdict.crashes)
    supersede(id, task)
    return
  end
  take_back(id, task)
  change(id, task, 'retry_count', verdict.retry_count, 'crashes', verdict.crashes, 'due', verdict.due,
    'parked_since', verdict.parked, 'worker', '', 'until', '', 'updated_at', NOW, 'cancel', '')
  if verdict.code ~= '' then
    change(id, task, 'code', verdict.code, 'message', verdict.message, 'error_at', NOW, 'trace', verdict.trace)
  end
  show(id, task, 'status', 'queued', 'retry_count', verdict.retry_count, 'error', verdict.message,
    'error_type', verdict.family)
  call('HSET', K.waiting, waiting_name(task), id)
  if verdict.due ~= '' then
    change(id, task, 'place', 'delayed')
    count('delayed', 1)
    call('ZADD', K.due, verdict.due, id)
    ring()
  else
    make_ready(id, task)
  end
end

-- The usual end: done, with nobody behind it and nothing beside it. What is alike for many is written once.
local quick = {words = {}, running = {}, done = {}, held = {}, subjects = {}}
local open_tenants = {}
local function is_open(tenant)
  if open_tenants[tenant] == nil then open_tenants[tenant] = call('HEXISTS', K.closed, tenant) == 0 end
  return open_tenants[tenant]
end

local function gather(by, name, value)
  local gathered_so_far = by[name] or {}
  by[name] = gathered_so_far
  gathered_so_far[#gathered_so_far + 1] = value
end

local durations = {}
local function duration_since(started_at)
  if not durations[started_at] then durations[started_at] = duration_of({started_at = started_at}) end
  return durations[started_at]
end

local function finish_quickly(id, row)
  local entry = not is_former(row) and not row[REST] and not tasks[id] and entry_for(id)
  if not entry or entry[ENTRY.item_type] == 'delete_tenant' then return false end
  local tenant = entry[ENTRY.tenant]
  if not is_open(tenant) then return false end
  row[PLACE], row[FINISHED_AT] = 'done', NOW
  local words, many = quick.words, #quick.running + 1
  words[2 * many - 1], words[2 * many] = task_key(id), cmsgpack.pack(row)
  tell(hash_key(id), id, 'status', 'done', 'completed_at', STAMP, 'duration_seconds',
    duration_since(row[STARTED_AT]))
  lasts(id)
  run(tenant, -1)
  owe(tenant, row[GENERATION], -1)
  quick.running[many] = id
  quick.done[2 * many - 1], quick.done[2 * many] = NOW, id
  gather(quick.held, row[WORKER], id)
  gather(quick.subjects, tenant, entry[ENTRY.subject])
  return true
end

-- What they leave in their worker's list: usually they are the oldest there, and are cut off together.
local function let_go_of(worker, ids)
  local list, ended = processing_key(worker), {}
  for _, id in ipairs(ids) do ended[id] = true end
  local oldest = call('LRANGE', list, -#ids, -1)
  local together = #oldest == #ids
  for _, element in ipairs(oldest) do
    local id = own_ticket_of(element)
    together = together and id and ended[id]
    if not together then break end
    ended[id] = nil
  end
  if together then
    call('LTRIM', list, 0, -#ids - 1)
    return oldest
  end
  local elements = {}
  for at, id in ipairs(ids) do
    elements[at] = load(id).element
    call('LREM', list, -1, elements[at])
  end
  return elements
end

local function write_quick(completed)
  set_all(quick.words)
  gathered('ZREM', K.running, quick.running)
  gathered('ZADD', K.done, quick.done)
  for worker, ids in pairs(quick.held) do
    for _, element in ipairs(let_go_of(worker, ids)) do completed[#completed + 1] = element end
  end
  for tenant, subjects in pairs(quick.subjects) do leave_subjects(tenant, subjects) end
end

local CALLED_OFF = {ERR_CANCELLED = true, ERR_SUPERSEDED = true}
local function settle(id, task, verdict)
  if verdict.place == 'done' then
    finish(id, task, 'done')
  elseif verdict.place == 'failed' then
    change(id, task, 'retry_count', verdict.retry_count, 'crashes', verdict.crashes)
    local element = task.element
    finish(id, task, 'failed', verdict.code, verdict.message, verdict.family, verdict.trace)
    if not CALLED_OFF[verdict.code] then bury(element, verdict.code, verdict.message, home_of(task)) end
  else
    wait_again(id, task, verdict)
  end
end
