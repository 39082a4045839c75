-- cancel: end waiting jobs, tell running ones. Returns {'', 1 each or 0 where it had ended}, or {an id nobody knows}.
-- ARGV[4] ids, packed.
-- include: ground
-- include: urgent
-- include: status
-- include: lanes
-- include: lines
-- include: ending
-- include: barriers
local ids = cmsgpack.unpack(ARGV[4])
for at, id in ipairs(ids) do
  ids[at] = resolve(id)
  if not load(ids[at]) then return {id} end
end
local answers = {}
for at, id in ipairs(ids) do
  local task = load(id)
  answers[at] = 1
  if task.place == 'leased' then
    change(id, task, 'cancel', 'ERR_CANCELLED', 'updated_at', NOW)
  elseif task.place == 'done' or task.place == 'failed' then
    answers[at] = 0
  else
    finish(id, task, 'failed', 'ERR_CANCELLED', 'cancelled')
  end
end
ring()
clear_closing()
write_counts()
return {'', answers}
