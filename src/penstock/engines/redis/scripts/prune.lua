-- prune: remove ended jobs past their time, and what was kept beside them; the documented hash expires by itself.
-- Dead letters go with what failed. Returns how many jobs went. ARGV[4] done before, ARGV[5] failed before, ARGV[6] at
-- most so many, ARGV[7] failed before as ISO 8601. Its own key: the batches of a parent that are open, by age.
-- include: ground
-- include: dating
local left, gone = tonumber(ARGV[6]), 0

local ENDED = {done = true, failed = true}
local function remove(id)
  local task = load(id)
  -- Somebody deleted its row, and it was submitted anew.
  if task and not ENDED[task.place] and not rawget(task, 'alias') then return end
  for batch in string.gmatch(task and task.batches or '', '[^' .. SEPARATOR .. ']+') do
    call('SREM', batch_key(batch) .. ':jobs', id)
    call('ZREM', batch_key(batch) .. ':failed', id)
  end
  if task and task.aliased ~= '' then
    local aliases = NAMES.root .. 'aliases:' .. id
    for _, alias in ipairs(call('SMEMBERS', aliases)) do
      local row = load(alias)
      -- One it was told again for has a row of its own, and its own time.
      if row and rawget(row, 'alias') then call('DEL', task_key(alias)) end
    end
    call('DEL', aliases)
  end
  call('DEL', task_key(id), entry_key(id))
  call('ZREM', K.jobs, id)
end

-- Those that ended together, as `settle_usual` wrote them: when, and their ids.
local function prune_ended(before)
  local removed = 0
  while left > 0 do
    local together = call('LINDEX', K.ended, 0)
    local at, ids = string.match(together or '', '^(%S+) (.*)$')
    if not at or tonumber(at) >= tonumber(before) then break end
    local kept = {}
    for id in string.gmatch(ids, '%S+') do
      if left > 0 then
        remove(id)
        removed, left = removed + 1, left - 1
      else
        kept[#kept + 1] = id
      end
    end
    if #kept > 0 then
      call('LSET', K.ended, 0, at .. ' ' .. table.concat(kept, ' '))
    else
      call('LPOP', K.ended)
    end
  end
  if removed > 0 then call('HINCRBY', K.counts, 'ended', -removed) end
  gone = gone + removed
end

prune_ended(ARGV[4])
for place, before in pairs({done = ARGV[4], failed = ARGV[5]}) do
  local ids = call('ZRANGEBYSCORE', K[place], '-inf', '(' .. before, 'LIMIT', 0, left)
  for _, id in ipairs(ids) do remove(id) end
  gathered('ZREM', K[place], ids)
  gone, left = gone + #ids, left - #ids
end
local earlier = tonumber(ARGV[4]) < tonumber(ARGV[5]) and ARGV[4] or ARGV[5]
local function remove_batch(index, batch)
  call('DEL', batch_key(batch), batch_key(batch) .. ':jobs', batch_key(batch) .. ':failed')
  call('ZREM', index, batch)
end
for _, batch in ipairs(call('ZRANGEBYSCORE', K.batches, '-inf', '(' .. earlier, 'LIMIT', 0, 1000)) do
  remove_batch(K.batches, batch)
end
-- Old ones nobody will seal: their parent has ended, or is gone.
for _, batch in ipairs(call('ZRANGEBYSCORE', own_key(1), '-inf', '(' .. earlier, 'LIMIT', 0, 1000)) do
  local parent = load(resolve(call('HGET', batch_key(batch), 'parent') or ''))
  if not parent or ENDED[parent.place] then remove_batch(own_key(1), batch) end
end
-- A letter that does not say when is at least as old as the next one beside it that does: it goes with that one.
local letters = redis.pcall('LRANGE', K.dead_letter, -tonumber(ARGV[6]), -1)
local old = 0
for back = 1, #letters do
  local at = told_at(letters[#letters - back + 1])
  if at and at >= ARGV[7] then break end
  if at then old = back end
end
if old > 0 then call('LTRIM', K.dead_letter, 0, -old - 1) end
return gone
