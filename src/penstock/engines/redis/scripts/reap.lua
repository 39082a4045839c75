-- reap: look into the processing list of a worker nobody knows. Jobs it holds are told, to be judged and taken back;
-- messages that are no jobs go back to the claiming end of the list they came from, tickets of jobs that still wait to
-- their place in theirs. Returns {messages that went back, ATTEMPT each}. ARGV[4] worker. Its own keys: the list; the
-- heartbeat, while which exists the worker lives; messages it could not adopt. A key that is no list is nobody's work.
-- include: ground
-- include: urgent
-- include: lanes
-- include: attempts
-- include: strangers
local worker, list = ARGV[4], own_key(1)
if call('EXISTS', own_key(2)) == 1 or call('ZSCORE', K.workers, worker) or not length_of(list) then return {0} end

-- A worker of another make may have said where it took a message from.
local function origin_of(element)
  local told = string.match(element, '"origin_queue"%s*:%s*"([^"]+)"')
  for _, inbox in ipairs(INBOXES) do
    if inbox.list == told then return told end
  end
  return NAMES.queue
end

local moved = return_strangers(own_key(3), list)
local answer = {}
for _, element in ipairs(call('LRANGE', list, -1000, -1)) do
  local id = ticket_of(element)
  local task = id and read(id)
  if task and task.place == 'leased' and task.worker == worker then
    answer[#answer + 1] = attempt_of(id)
  else
    call('LREM', list, -1, element)
    if not id then
      local origin = origin_of(element)
      make_way(origin)
      call('RPUSH', origin, element)
      moved = moved + 1
      ring()
    elseif task and task.place == 'ready' then
      push(id, task)
      moved = moved + 1
    end
  end
end
write_counts()
return {moved, unpack(answer)}
