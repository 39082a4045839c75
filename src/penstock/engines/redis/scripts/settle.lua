-- settle: end attempts by the verdicts on them. Returns one number each: 1 settled (also when it was settled by this
-- token before: a reply may have been lost), 0 the lease was lost, 2 told to stop meanwhile: judge again.
-- ARGV[4] ends, packed: {id, token, place, due, retry_count, crashes, parked, code, message, cancel, how, family,
-- trace}, or the first three for what is done. `cancel` is what the judge knew; `how` is 'lost' for an attempt to be
-- taken from a dead worker, 'left' for one whose worker leaves, '' for one its worker ends.
-- ARGV[5] workers silent since before then are dead; ARGV[6] workers that are gone for certain, packed;
-- ARGV[7] 1 if tenants have a limit.
-- include: ground
-- include: urgent
-- include: status
-- include: lanes
-- include: lines
-- include: ending
-- include: barriers
-- include: settling
local gone = {}
for _, worker in ipairs(cmsgpack.unpack(ARGV[6])) do gone[worker] = true end
local done = {}

local function is_lost(task)
  if gone[task.worker] then return true end
  local beat = call('ZSCORE', K.workers, task.worker)
  if beat and tonumber(beat) < tonumber(ARGV[5]) then return true end
  return tonumber(task['until']) < tonumber(NOW)
end

local function settle_one(packed)
  local id, token = packed[1], packed[2]
  local row = rows[id]
  if packed[3] == 'done' and row and row[PLACE] == 'leased' and row[TOKEN] == token and finish_quickly(id, row) then
    return 1
  end
  local task = read(id)
  if not is_held(task, token) then
    local before = task and (task.settled == token or (task.place == 'done' and task.token == token))
    return before and 1 or 0
  end
  if packed[3] == 'done' then
    done[#done + 1] = task.element
    settle(id, task, {place = 'done'})
    return 1
  end
  if packed[11] == 'lost' and not is_lost(task) then return 0 end
  if task.cancel ~= packed[10] then return 2 end
  if packed[11] == '' then change(id, task, 'settled', token) end
  settle(id, task, {place = packed[3], due = packed[4], retry_count = packed[5], crashes = packed[6],
    parked = packed[7], code = packed[8], message = packed[9], family = packed[12], trace = packed[13]})
  return 1
end

local answers, told, ids = {}, cmsgpack.unpack(ARGV[4]), {}
for at, packed in ipairs(told) do ids[at] = packed[1] end
prefetch(ids)
for at, packed in ipairs(told) do answers[at] = settle_one(packed) end
write_quick(done)
if #done > 0 then
  make_way(K.completed)
  gathered('LPUSH', K.completed, done)
  call('LTRIM', K.completed, 0, NAMES.completed_max - 1)
end
if ARGV[7] == '1' then ring() end
clear_closing()
write_counts()
return answers
