-- holding: what keeps ready jobs from being claimed: pauses and tenant deletions.
local held_scopes = {all = {}, tenant = {}, collection = {}, type = {}}
for _, name in ipairs(call('HKEYS', K.pauses)) do
  local scope, what = string.match(name, '^(%a+):(.*)$')
  held_scopes[scope][what] = true
end
local function is_paused(task)
  return held_scopes.all[''] or held_scopes.tenant[task.tenant] or held_scopes.collection[task.collection]
    or held_scopes.type[task.item_type] or false
end
local function waits_for_deletion(task)
  return call('HEXISTS', K.closed, task.tenant) == 1 and task.cleared ~= '1'
end
local see = read
