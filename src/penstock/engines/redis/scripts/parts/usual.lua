-- usual: most attempts end as done, with nobody behind their job and nothing beside it. Their worker knows the row it
-- was handed, says what it shall be, and whoever finds another row than that one has changed nothing. It stands before
-- ground, whose many functions cost a small settle more than all else.
-- ARGV[8] '' or packed {tenant, generation, the worker's processing list, expiry, how long the completed list may be,
-- ids, rows, rows to be, subjects, durations}. Answers 3 where a job must be told of by its token.
local function keep_equal(asked, texts)
  local kept, answers = {{}, {}, {}, {}}, {}
  for at, id in ipairs(asked[6]) do
    local place = texts[at] == asked[7][at] and #kept[1] + 1
    answers[at] = place and 1 or 3
    if place then
      kept[1][place], kept[2][place], kept[3][place], kept[4][place] = id, asked[8][at], asked[9][at], asked[10][at]
    end
  end
  return kept, answers
end

-- What they leave in their worker's list: usually they are the oldest there, in the order of their claim.
local function let_go_together(call, list, ids)
  local oldest = call('LRANGE', list, -#ids, -1)
  if #oldest ~= #ids then return nil end
  for at, id in ipairs(ids) do
    if string.sub(oldest[#ids - at + 1], 1, 13 + #id) ~= '{"job_id":"' .. id .. '",' then return nil end
  end
  call('LTRIM', list, 0, -#ids - 1)
  return oldest
end

local function let_go_each(call, list, root, ids, rows)
  local keys, elements = {}, {}
  for at, id in ipairs(ids) do keys[at] = root .. 'entry:' .. id end
  for at, text in ipairs(call('MGET', unpack(keys))) do
    local row, entry = cmsgpack.unpack(rows[at]), text and cmsgpack.unpack(text)
    if entry then
      local element = '{"job_id":"' .. ids[at] .. '","seq":' .. row[8] .. ',"created_us":' .. row[7] .. entry[16]
      elements[#elements + 1] = element
      call('LREM', list, -1, element)
    end
  end
  return elements
end

local function settle_usual(asked)
  local call, root, now, stamp = redis.call, string.sub(KEYS[1], 1, -7), ARGV[2], ARGV[3]
  local tenant, generation, list, expiry, completed_max = unpack(asked, 1, 5)
  local keys, answers = {}, {}
  for at, id in ipairs(asked[6]) do keys[at], answers[at] = root .. 'task:' .. id, 3 end
  if call('EXISTS', KEYS[12]) == 1 then return answers end
  local kept
  kept, answers = keep_equal(asked, call('MGET', unpack(keys)))
  local ids, rows, subjects, durations = unpack(kept)
  local many = #ids
  if many == 0 then return answers end
  -- First what needs no memory, for the reason that urgent tells.
  call('ZREM', KEYS[5], unpack(ids))
  local words, done = {}, {}
  for at, id in ipairs(ids) do
    local key = root .. 'job:' .. id
    words[2 * at - 1], words[2 * at] = root .. 'task:' .. id, rows[at]
    done[2 * at - 1], done[2 * at] = now, id
    call('HSET', key, 'status', 'done', 'completed_at', stamp, 'duration_seconds', durations[at])
    call('EXPIRE', key, expiry)
    call('SET', key .. ':ttl', stamp, 'EX', expiry)
  end
  call('MSET', unpack(words))
  call('ZADD', KEYS[3], unpack(done))
  call('HDEL', root .. 'subjects:' .. tenant, unpack(subjects))
  local elements = let_go_together(call, list, ids) or let_go_each(call, list, root, ids, rows)
  if #elements > 0 then
    call('LPUSH', KEYS[19], unpack(elements))
    call('LTRIM', KEYS[19], 0, completed_max - 1)
  end
  local unfinished = root .. 'unfinished:' .. tenant
  if call('HINCRBY', unfinished, generation, -many) <= 0 then call('HDEL', unfinished, generation) end
  if call('HINCRBY', KEYS[8], tenant, -many) <= 0 then call('HDEL', KEYS[8], tenant) end
  return answers
end

local usual = {}
if ARGV[8] ~= '' then usual = settle_usual(cmsgpack.unpack(ARGV[8])) end
if ARGV[4] == '\144' then return usual end
