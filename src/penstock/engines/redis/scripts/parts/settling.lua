-- settling: what becomes of a leased job when its attempt has ended.
local WATCHED = {'place', 'token', 'worker', 'until', 'tenant', 'key', 'subject', 'generation', 'followed', 'item_type',
  'batches', 'foreign', 'aliased', 'started_at', 'retry_count', 'crashes', 'cancel', 'op', 'delete_first', 'element',
  'priority', 'created_us', 'seq', 'origin', 'due', 'settled'}
local function watch(id)
  local values = call('HMGET', task_key(id), unpack(WATCHED))
  if not values[1] then return nil end
  local task = {}
  for place, name in ipairs(WATCHED) do task[name] = values[place] or '' end
  return task
end

local function is_held(task, token) return task and task.place == 'leased' and task.token == token end

-- It would wait again, unless a later intent with its key waits already: that one stays, with the delete if need be.
local function wait_again(id, task, verdict)
  local successor = call('HGET', K.waiting, waiting_name(task))
  if successor then
    if task.op == 'delete' or task.delete_first == '1' then
      if call('HGET', task_key(successor), 'op') ~= 'delete' then
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

local CALLED_OFF = {ERR_CANCELLED = true, ERR_SUPERSEDED = true}
local function settle(id, task, verdict)
  if verdict.place == 'done' then
    finish(id, task, 'done')
  elseif verdict.place == 'failed' then
    change(id, task, 'retry_count', verdict.retry_count, 'crashes', verdict.crashes)
    local element = task.element
    finish(id, task, 'failed', verdict.code, verdict.message, verdict.family)
    if not CALLED_OFF[verdict.code] then bury(element, verdict.code, verdict.message) end
  else
    wait_again(id, task, verdict)
  end
end
