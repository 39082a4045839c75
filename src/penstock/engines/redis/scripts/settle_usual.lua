-- settle_usual: end attempts that end as most do: done, with nobody behind their job and nothing beside it. Their worker
-- knows how the row ends that the claim left: while it begins as leased and ends so, it is that row, and nobody has
-- touched it since (those of one claim are mostly one text, and looked at once); otherwise nothing has changed. Returns 1
-- for each, or 3 where a job must be told of to settle, by its token; a 4 behind all answers says that the server does not
-- know MSETEX, or forbids it.
-- KEYS counts, done, running, tenants, closed, ended, completed, jobs, the worker's processing list, the tenant's subjects.
-- ARGV[1] now in seconds; [2] as ISO 8601; [3] packed {tenant, expiry, how long the completed list may be,
-- ids, subjects, which claim each is of, how the rows of those claims end, how long theirs took, 1 if the server may know
-- MSETEX}.
-- include: telling
-- include: yielding
-- include: tails
-- The row of an attempt that has ended well: its list, its worker and the end of its lease are told no more.
local function done_row(leased, now)
  local row = cmsgpack.unpack(leased)
  row[1], row[6], row[8], row[9], row[11] = 'done', '', '', '', now
  return cmsgpack.pack(row)
end

local function keep_equal(asked, keys, texts)
  local kept, answers = {{}, {}, {}, {}, {}}, {}
  local ids, subjects, which, tails, lasted = asked[4], asked[5], asked[6], asked[7], asked[8]
  local find, many, done = string.find, 0, {}
  for at = 1, #tails do done[at] = {} end
  for at, id in ipairs(ids) do
    local row, claim = texts[at], which[at]
    local ended = row and done[claim][row]
    if row and ended == nil then
      local tail = tails[claim]
      local equal = find(row, '\155\166leased', 1, true) == 1 and find(row, tail, -#tail, true)
      ended = equal and done_row(row, ARGV[1])
      done[claim][row] = ended or false
    end
    if ended then
      many = many + 1
      answers[at] = 1
      kept[1][many], kept[2][many], kept[3][many] = id, ended, subjects[at]
      kept[4][many], kept[5][many] = lasted[claim], keys[at]
    else
      answers[at] = 3
    end
  end
  return kept, answers
end

-- What they leave in their worker's list: usually they are the oldest there, in the order of their claim.
local function let_go_together(call, list, ids)
  local oldest = call('LRANGE', list, -#ids, -1)
  if #oldest ~= #ids then return nil end
  local find, byte = string.find, string.byte
  for at, id in ipairs(ids) do
    local element = oldest[#ids - at + 1]
    if find(element, id, 12, true) ~= 12 or byte(element, 12 + #id) ~= 34 then return nil end
    if find(element, '{"job_id":"', 1, true) ~= 1 then return nil end
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
      local number = row[2] ~= '' and row[2] or call('ZSCORE', KEYS[8], ids[at]) or '0'
      local element =
        '{"job_id":"' .. ids[at] .. '","seq":' .. number .. ',"created_us":' .. row[4] .. whole_tail(entry[16])
      elements[#elements + 1] = element
      call('LREM', list, -1, element)
    end
  end
  return elements
end

-- What gathers many in one command takes more commands than a few need by themselves.
local FEW = 3

-- From now on their documented hashes expire. Times are told as the server keeps them, which saves it the counting.
local refused = false
local function let_expire(call, keys, stamp, expiry, together)
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
  -- One command for all of them is younger than most servers; who was told so once does not ask again.
  refused = together == 1 and type(redis.pcall('MSETEX', unpack(words))) == 'table'
  if refused or together ~= 1 then
    call('MSET', unpack(words, 2, #words - 2))
    for at = 1, #keys do call('PEXPIREAT', words[2 * at], upto) end
  end
end

-- Pruning goes by age, and these are of one age: one word for all of them, where a sorted set has one for each.
local function keep_ended(call, ids, now)
  if #ids <= FEW then
    for _, id in ipairs(ids) do call('ZADD', KEYS[2], now, id) end
    return
  end
  call('RPUSH', KEYS[6], now .. ' ' .. table.concat(ids, ' '))
  call('HINCRBY', KEYS[1], 'ended', #ids)
end

local function settle_usual(asked)
  local call, pcall, root, now, stamp = redis.call, redis.pcall, string.sub(KEYS[1], 1, -7), ARGV[1], ARGV[2]
  local tenant, expiry, completed_max = unpack(asked, 1, 3)
  local list = KEYS[9]
  local keys, answers = {}, {}
  for at, id in ipairs(asked[4]) do keys[at], answers[at] = root .. 'task:' .. id, 3 end
  if call('EXISTS', KEYS[5]) == 1 then return answers end
  local kept
  kept, answers = keep_equal(asked, keys, call('MGET', unpack(keys)))
  local ids, rows, subjects, durations, tasks = unpack(kept)
  local many = #ids
  if many == 0 then return answers end
  -- First what needs no memory, for the reason that urgent tells.
  call('ZREM', KEYS[3], unpack(ids))
  local words, hashes, hash = {}, {}, root .. 'job:'
  for at, id in ipairs(ids) do
    words[2 * at - 1], words[2 * at] = tasks[at], rows[at]
    local key, lasted = hash .. id, durations[at]
    hashes[at] = key
    if type(pcall('HSET', key, 'status', 'done', 'completed_at', stamp, 'duration_seconds', lasted)) == 'table' then
      tell(key, id, 'status', 'done', 'completed_at', stamp, 'duration_seconds', lasted)
    end
  end
  let_expire(call, hashes, stamp, expiry, asked[9])
  call('MSET', unpack(words))
  keep_ended(call, ids, now)
  call('HDEL', KEYS[10], unpack(subjects))
  local elements = let_go_together(call, list, ids) or let_go_each(call, list, root, ids, rows)
  if #elements > 0 then
    push_left(KEYS[7], unpack(elements))
    call('LTRIM', KEYS[7], 0, completed_max - 1)
  end
  if call('HINCRBY', KEYS[4], tenant, -many) <= 0 then call('HDEL', KEYS[4], tenant) end
  return answers
end

local answers = settle_usual(cmsgpack.unpack(ARGV[3]))
if refused then answers[#answers + 1] = 4 end
return answers
