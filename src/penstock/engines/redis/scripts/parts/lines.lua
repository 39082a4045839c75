-- lines: of one subject one job at a time, in submit order. `subjects:<tenant>` names the first unfinished job of
-- each subject; the others stand in `line:<tenant>:<subject>`, and the first knows whether anybody does.
local function subjects_key(tenant) return NAMES.root .. 'subjects:' .. tenant end
local function line_key(task) return NAMES.root .. 'line:' .. task.tenant .. SEPARATOR .. task.subject end

-- The first of its subject has ended: the next goes on.
local function advance(id, task)
  local behind = task.followed ~= '' and call('LPOP', line_key(task))
  if not behind then
    call('HDEL', subjects_key(task.tenant), task.subject)
    return
  end
  call('HSET', subjects_key(task.tenant), task.subject, behind)
  local next_one = load(behind)
  count('behind', -1)
  change(behind, next_one, 'followed', call('EXISTS', line_key(task)) == 1 and '1' or '')
  if next_one.due == '' then
    make_ready(behind, next_one)
  else
    change(behind, next_one, 'place', 'delayed')
    count('delayed', 1)
  end
end
