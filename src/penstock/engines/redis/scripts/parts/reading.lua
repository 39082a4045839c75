-- reading: a job as it stands: {id, its fields in pairs, the job it waits behind or '', 1 if a deletion bars it}.
local function behind_of(id, task)
  if task.place ~= 'behind' then return '' end
  local key = NAMES.root .. 'line:' .. task.tenant .. SEPARATOR .. task.subject
  local place = call('LPOS', key, id)
  if place and place > 0 then return call('LINDEX', key, place - 1) end
  return call('HGET', NAMES.root .. 'subjects:' .. task.tenant, task.subject) or ''
end

local ENDED = {done = true, failed = true, leased = true}
local function is_barred(task)
  if ENDED[task.place] or call('HEXISTS', K.closed, task.tenant) == 0 then return 0 end
  if task.item_type == 'delete_tenant' and task.cleared == '1' then return 0 end
  return 1
end

local told
function told(id)
  local flat = call('HGETALL', task_key(id))
  if #flat == 0 then return nil end
  local task = setmetatable({}, EMPTY)
  for at = 1, #flat, 2 do task[flat[at]] = flat[at + 1] end
  if task.alias ~= '' then return told(task.alias) end
  expand(task)
  return {id, flat, behind_of(id, task), is_barred(task)}
end
