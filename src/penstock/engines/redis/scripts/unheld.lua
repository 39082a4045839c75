-- unheld: which of these jobs neither wait nor run here: unknown, or ended. Returns {their ids; and, where fewer messages
-- lie in the lists than jobs are ready, so that tickets are missing, {id, list, its message if it is another program's} of
-- those that are ready}. ARGV[4] ids, packed.
-- include: ground
-- include: lanes
local ids, found, ready = cmsgpack.unpack(ARGV[4]), {}, {}
local lists, messages = {}, 0
for _, inbox in ipairs(INBOXES) do lists[inbox.list] = true end
for _, lane in ipairs(call('ZRANGE', K.lanes, 0, -1)) do lists[string.match(lane, SEPARATOR .. '(.*)$')] = true end
for list in pairs(lists) do messages = messages + (length_of(list) or 0) end
local counts = call('HMGET', K.counts, 'seq', 'unready')
local missing = messages < tonumber(counts[1] or 0) - tonumber(counts[2] or 0)
prefetch(ids)
for _, id in ipairs(ids) do
  local task = load(resolve(id))
  if not task or task.place == 'done' or task.place == 'failed' then
    found[#found + 1] = id
  elseif missing and task.place == 'ready' then
    ready[#ready + 1] = {task.id, ticket_list(task), task.foreign_element}
  end
end
return {found, ready}
