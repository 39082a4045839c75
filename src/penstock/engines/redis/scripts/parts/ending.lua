-- ending: the end of a job, from wherever it was.
local closing = {}


local function count_in_batch(batch, done, failed)
  local key = batch_key(batch)
  if done > 0 then call('HINCRBY', key, 'done', done) end
  if failed > 0 then call('HINCRBY', key, 'failed', failed) end
  local seen = call('HMGET', key, 'sealed', 'total', 'done', 'failed')
  if seen[1] == '1' and tonumber(seen[3]) + tonumber(seen[4]) >= tonumber(seen[2]) then
    call('HSET', key, 'ended_at', NOW)
    call('ZADD', K.batches, NOW, batch)
  end
end

local function count_in_batches(id, task, place)
  for batch in string.gmatch(task.batches, '[^' .. SEPARATOR .. ']+') do
    if call('EXISTS', batch_key(batch)) == 1 then
      if place == 'failed' then call('ZADD', batch_key(batch) .. ':failed', NOW, id) end
      count_in_batch(batch, place == 'done' and 1 or 0, place == 'failed' and 1 or 0)
    end
  end
end

-- Out of its worker's hands.
local function take_back(id, task)
  call('ZREM', K.running, id)
  call('LREM', processing_key(task.worker), -1, task.element)
  run(task.tenant, -1)
end

local function forget_barrier(id, task)
  call('ZREM', barriers_key(task.tenant), id)
  if call('EXISTS', barriers_key(task.tenant)) == 0 then
    call('HDEL', K.closed, task.tenant)
    ring()
  else
    closing[task.tenant] = true
  end
end

local function finish(id, task, place, code, message, family, trace)
  if task.place == 'leased' then
    take_back(id, task)
  else
    withdraw(id, task)
    call('HDEL', K.waiting, waiting_name(task))
  end
  local was_behind = task.place == 'behind'
  change(id, task, 'place', place, 'finished_at', NOW, 'updated_at', NOW, 'due', '', 'worker', '', 'until', '',
    'cancel', '', 'parked_since', '', 'ticket', '')
  if place == 'failed' then
    change(id, task, 'code', code, 'message', message, 'error_at', NOW, 'trace', trace or '')
  end
  call('ZADD', K[place], NOW, id)
  show_end(id, task, place, message or '', family or NAMES.families[code] or '')
  count_in_batches(id, task, place)
  if task.foreign ~= '' then call('HDEL', K.elements, redis.sha1hex(task.element)) end
  if task.item_type == 'delete_tenant' then
    forget_barrier(id, task)
    return
  end
  owe(task.tenant, task.generation, -1)
  if was_behind then
    call('LREM', line_key(task), 1, id)
  else
    advance(id, task)
  end
  if call('HEXISTS', K.closed, task.tenant) == 1 then closing[task.tenant] = true end
end

-- It failed for good by itself, not because somebody called it off: its message goes where such messages go.
local function bury(element, code, message, list)
  push_left(K.dead_letter, cjson.encode({
    message = element, reason = message, code = code, failed_at = STAMP, origin_queue = list}))
end

local SUPERSEDED = 'a later request on the same object took its place'
local function supersede(id, task, why)
  finish(id, task, 'failed', 'ERR_SUPERSEDED', why or SUPERSEDED)
end

local function tell_to_stop(id, task)
  if task.cancel == '' then change(id, task, 'cancel', 'ERR_SUPERSEDED') end
end
