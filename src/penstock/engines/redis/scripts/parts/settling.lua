-- settling: what becomes of a leased job when its attempt has ended.
local WATCHED = {'fixed', 'place', 'token', 'worker', 'until', 'followed', 'batches', 'foreign', 'aliased',
  'started_at', 'retry_count', 'crashes', 'cancel', 'op', 'delete_first', 'element', 'priority', 'due', 'settled',
  'code'}
local WATCHED_DONE = {'fixed', 'place', 'token', 'worker', 'followed', 'batches', 'foreign', 'aliased', 'started_at',
  'retry_count', 'element', 'settled', 'code'}
local function watch(id, place) return read(id, place == 'done' and WATCHED_DONE or WATCHED) end

local function is_held(task, token) return task and task.place == 'leased' and task.token == token end

-- It would wait again, unless a later intent with its key waits already: that one stays, with the delete if need be.
local function wait_again(id, task, verdict)
  local successor = call('HGET', K.waiting, waiting_name(task))
  if successor then
    if task.op == 'delete' or task.delete_first == '1' then
      if read(successor, {'fixed', 'op'}).op ~= 'delete' then
        call('HSET', task_key(successor), 'delete_first', '1')
      end
    end
    change(id, task, 'retry_count', verdict.retry_count, 'crashes', verdict.crashes)
    supersede(id, task)
    return
  end
  take_back(id, task)
  change(id, task, 'retry_count', verdict.retry_count, 'crashes', verdict.crashes, 'due', verdict.due,
    'parked_since', verdict.parked, 'worker', '', 'until', '', 'updated_at', NOW, 'cancel', '')
  if verdict.code ~= '' then
    change(id, task, 'code', verdict.code, 'message', verdict.message, 'error_at', NOW)
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
local quick = {running = {}, done = {}, held = {}, subjects = {}}
local open_tenants = {}
local function is_open(tenant)
  if open_tenants[tenant] == nil then open_tenants[tenant] = call('HEXISTS', K.closed, tenant) == 0 end
  return open_tenants[tenant]
end

local function gather(by, name, value)
  by[name] = by[name] or {}
  table.insert(by[name], value)
end

local function finish_quickly(id, task)
  if task.followed ~= '' or task.batches ~= '' or task.foreign ~= '' or task.aliased ~= ''
    or task.item_type == 'delete_tenant' or not is_open(task.tenant) then
    return false
  end
  call('HSET', task_key(id), 'place', 'done', 'finished_at', NOW)
  call('HSET', hash_key(id), 'status', 'done', 'completed_at', STAMP, 'duration_seconds', duration_of(task))
  if task.code ~= '' then call('HSET', hash_key(id), 'error', '', 'error_type', '') end
  lasts(id)
  call('LREM', processing_key(task.worker), -1, task.element)
  run(task.tenant, -1)
  owe(task.tenant, task.generation, -1)
  table.insert(quick.running, id)
  table.insert(quick.done, NOW)
  table.insert(quick.done, id)
  gather(quick.held, task.worker, id)
  gather(quick.subjects, task.tenant, task.subject)
  return true
end

local function write_quick()
  gathered('ZREM', K.running, quick.running)
  gathered('ZADD', K.done, quick.done)
  for worker, ids in pairs(quick.held) do gathered('SREM', held_key(worker), ids) end
  for tenant, subjects in pairs(quick.subjects) do gathered('HDEL', subjects_key(tenant), subjects) end
end

local CALLED_OFF = {ERR_CANCELLED = true, ERR_SUPERSEDED = true}
local function settle(id, task, verdict)
  if verdict.place == 'done' then
    if not finish_quickly(id, task) then finish(id, task, 'done') end
  elseif verdict.place == 'failed' then
    change(id, task, 'retry_count', verdict.retry_count, 'crashes', verdict.crashes)
    local element = task.element
    finish(id, task, 'failed', verdict.code, verdict.message, verdict.family)
    if not CALLED_OFF[verdict.code] then bury(element, verdict.code, verdict.message) end
  else
    wait_again(id, task, verdict)
  end
end
