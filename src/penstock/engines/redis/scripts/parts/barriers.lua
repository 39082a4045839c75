-- barriers: a tenant under deletion. `barriers:<tenant>` numbers its deletions; every job carries the number of the
-- latest one that was there before it, so what has a smaller number came earlier. What waited is ended in
-- portions, as far as the cursor kept beside the tenant in `closed` says; what runs is told, and waited for.
local DELETED = 'the tenant is being deleted'
local PORTION = 2000

local function end_line(id, number, ended, known)
  local task = load(id)
  if not task or not holds(task, known.subject) then
    if not task then forget(id, nil, known) end
    leave_line(id, known.tenant, known.subject)
    id = call('HGET', subjects_key(known.tenant), known.subject)
    task = id and load(id)
  end
  while task and task.place ~= 'leased' and tonumber(task.generation) < number do
    local followed, tenant, subject = task.followed, task.tenant, task.subject
    supersede(id, task, DELETED)
    ended = ended + 1
    if followed == '' then return ended end
    id = call('HGET', subjects_key(tenant), subject)
    task = id and load(id)
  end
  if not task then return ended end
  if task.place == 'leased' and tonumber(task.generation) < number then tell_to_stop(id, task) end
  if task.followed ~= '' then
    for _, other in ipairs(call('LRANGE', line_key(task), 0, -1)) do
      local behind = load(other)
      if not behind then
        call('LREM', line_key(task), 1, other)
        forget(other, 'behind', known)
      elseif tonumber(behind.generation) < number then
        supersede(other, behind, DELETED)
        ended = ended + 1
      end
    end
  end
  return ended
end

-- A deletion whose row is gone holds nobody up.
local function forget_deletions(tenant)
  for _, id in ipairs(call('ZRANGE', barriers_key(tenant), 0, -1)) do
    if not load(id) then
      forget(id, nil, {tenant = tenant, key = '', subject = ''})
      call('ZREM', barriers_key(tenant), id)
    end
  end
  if call('EXISTS', barriers_key(tenant)) == 0 and call('HDEL', K.closed, tenant) == 1 then ring() end
end

-- End what came before the latest deletion, a portion a call; 'clear' once the first deletion may run.
local function clear(tenant)
  forget_deletions(tenant)
  local barriers = call('ZRANGE', barriers_key(tenant), 0, -1, 'WITHSCORES')
  if #barriers == 0 then return 'clear' end
  local number = tonumber(barriers[#barriers])
  local cursor = call('HGET', K.closed, tenant)
  local ended = 0
  while cursor ~= 'through' and ended < PORTION do
    local page = call('HSCAN', subjects_key(tenant), cursor, 'COUNT', 500)
    for at = 1, #page[2], 2 do
      ended = end_line(page[2][at + 1], number, ended, {tenant = tenant, subject = page[2][at], key = ''})
    end
    cursor = page[1] == '0' and 'through' or page[1]
  end
  call('HSET', K.closed, tenant, cursor)
  write_owed()
  local first = tonumber(barriers[2])
  for generation, many in pairs(unfinished_of(tenant)) do
    if many > 0 and tonumber(generation) < first then return cursor == 'through' and 'waits' or 'more' end
  end
  local deletion = load(barriers[1])
  if deletion.cleared ~= '1' then
    change(barriers[1], deletion, 'cleared', '1')
    ring()
  end
  return cursor == 'through' and 'clear' or 'more'
end

-- After every script that ended jobs of tenants under deletion.
local function clear_closing()
  for tenant in pairs(closing) do clear(tenant) end
end
