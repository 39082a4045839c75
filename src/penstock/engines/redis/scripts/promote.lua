-- promote: make due jobs ready, let go of what lifted pauses had set aside, clear the way for tenant deletions; a
-- portion of each. Returns {1 if there is more to do at once, 1 if a deletion still waits, the next due time or ''}.
-- include: ground
-- include: urgent
-- include: status
-- include: lanes
-- include: lines
-- include: ending
-- include: barriers
-- include: letting
local more, waits = 0, 0
-- The latest first, for the reason that letting tells.
local due = call('ZREVRANGEBYSCORE', K.due, NOW, '-inf', 'LIMIT', 0, 1000)
prefetch(due)
for _, id in ipairs(due) do
  local task = load(id)
  if not task then forget(id) end
  call('ZREM', K.due, id)
  if task then change(id, task, 'due', '') end
  if task and task.place == 'delayed' then
    count('delayed', -1)
    make_ready(id, task)
  end
end
if #due == 1000 then more = 1 end
if let_go() then more = 1 end
for _, tenant in ipairs(call('HKEYS', K.closed)) do
  local how = clear(tenant)
  if how == 'more' then more = 1 end
  if how == 'waits' then waits = 1 end
end
write_counts()
return {more, waits, call('ZRANGE', K.due, 0, 0, 'WITHSCORES')[2] or ''}
