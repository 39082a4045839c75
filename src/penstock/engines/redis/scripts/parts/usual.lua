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
    if string.find(oldest[#ids - at + 1], '{"job_id":"' .. id .. '",', 1, true) ~= 1 then return nil end
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

-- What gathers many in one command takes more commands than a few need by themselves.
local FEW = 3

-- From now on their documented hashes expire. Times are told as the server keeps them, which saves it the counting.
local function let_expire(call, keys, stamp, expiry)
  if #keys <= FEW then
    for _, key in ipairs(keys) do
      call('EXPIRE', key, expiry)
      call('SET', key .. ':ttl', stamp, 'EX', expiry)
    end
    return
  end
  local time, words = call('TIME'), {#keys}
  local upto = string.format('%d', (tonumber(time[1]) + expiry) * 1000 + math.floor(tonumber(time[2]) / 1000))
  for at, key in ipairs(keys) do
    call('PEXPIREAT', key, upto)
    words[2 * at], words[2 * at + 1] = key .. ':ttl', stamp
  end
  words[#words + 1], words[#words + 2] = 'PXAT', upto
  -- One command for all of them is younger than the servers we know.
  if type(redis.pcall('MSETEX', unpack(words))) == 'table' then
    for _, key in ipairs(keys) do call('SET', key .. ':ttl', stamp, 'PXAT', upto) end
  end
end

-- Pruning goes by age, and these are of one age: one word for all of them, where a sorted set has one for each.
local function keep_ended(call, ids, now)
  if #ids <= FEW then
    for _, id in ipairs(ids) do call('ZADD', KEYS[3], now, id) end
    return
  end
  call('RPUSH', KEYS[19], now .. ' ' .. table.concat(ids, ' '))
  call('HINCRBY', KEYS[1], 'ended', #ids)
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
  local words, hashes = {}, {}
  local task, hash = root .. 'task:', root .. 'job:'
  for at, id in ipairs(ids) do
    hashes[at] = hash .. id
    words[2 * at - 1], words[2 * at] = task .. id, rows[at]
    call('HSET', hashes[at], 'status', 'done', 'completed_at', stamp, 'duration_seconds', durations[at])
  end
  let_expire(call, hashes, stamp, expiry)
  call('MSET', unpack(words))
  keep_ended(call, ids, now)
  call('HDEL', root .. 'subjects:' .. tenant, unpack(subjects))
  local elements = let_go_together(call, list, ids) or let_go_each(call, list, root, ids, rows)
  if #elements > 0 then
    call('LPUSH', KEYS[20], unpack(elements))
    call('LTRIM', KEYS[20], 0, completed_max - 1)
  end
  local unfinished = root .. 'unfinished:' .. tenant
  if call('HINCRBY', unfinished, generation, -many) <= 0 then call('HDEL', unfinished, generation) end
  if call('HINCRBY', KEYS[8], tenant, -many) <= 0 then call('HDEL', KEYS[8], tenant) end
  return answers
end

local usual = {}
if ARGV[8] ~= '' then usual = settle_usual(cmsgpack.unpack(ARGV[8])) end
if ARGV[4] == '\144' then return usual end
