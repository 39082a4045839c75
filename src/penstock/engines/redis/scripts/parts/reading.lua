-- reading: a job as it stands: {id, its fields in pairs, the job it waits behind or '', 1 if a deletion bars it};
-- `without` names a field that is left out.
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

local TOLD = {'tenant', 'item_type', 'collection', 'key', 'subject', 'created_at', 'place', 'op', 'priority', 'payload',
  'body', 'retry_count', 'max_retries', 'crashes', 'delete_first', 'due', 'until', 'worker', 'started_at',
  'finished_at', 'updated_at', 'parked_since', 'code', 'message', 'error_at', 'trace', 'cancel', 'progress', 'token'}
local function told(id, without)
  local task = load(resolve(id))
  if not task then return nil end
  local words = {}
  for _, name in ipairs(TOLD) do
    local value = name ~= without and task[name] or ''
    if value ~= '' then
      words[#words + 1] = name
      words[#words + 1] = value
    end
  end
  return {task.id, words, behind_of(task.id, task), is_barred(task)}
end
