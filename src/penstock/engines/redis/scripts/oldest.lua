-- oldest: the id of the job that is ready for longest, of those nothing holds back; '' if there is none.
-- include: ground
-- include: lanes
-- include: holding
local best = nil
local function compare(task)
  local at, seq = tonumber(task.created_us), tonumber(task.seq)
  if not best or older(at, seq, best.at, best.seq) then best = {id = task.id, at = at, seq = seq} end
end

local function look_into(list)
  for from = 0, 9999, 100 do
    local page = call('LRANGE', list, -from - 100, -from - 1)
    for place = #page, 1, -1 do
      local id = ticket_of(page[place])
      local task = id and see(id)
      if task and task.place == 'ready' and ticket_list(task) == list and not is_paused(task)
        and not waits_for_deletion(task) then
        return compare(task)
      end
    end
    if #page < 100 then return end
  end
end

for from = 0, 1e6, 64 do
  local page = call('ZRANGE', K.ages, from, from + 63, 'WITHSCORES')
  for at = 1, #page, 2 do
    if best and tonumber(page[at + 1]) > best.at then return best.id end
    local tenant, list = string.match(page[at], '^%d%d(.-)' .. SEPARATOR .. '(.*)$')
    if call('HEXISTS', K.closed, tenant) == 0 and not held_scopes.tenant[tenant] then look_into(list) end
  end
  if #page < 128 then break end
end
for _, tenant in ipairs(call('HKEYS', K.closed)) do
  local first = call('ZRANGE', NAMES.root .. 'barriers:' .. tenant, 0, 0)[1]
  local task = first and see(first)
  if task and task.place == 'ready' and task.cleared == '1' and not is_paused(task) then compare(task) end
end
return best and best.id or ''
