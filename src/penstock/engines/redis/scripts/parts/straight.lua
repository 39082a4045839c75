-- straight: nearly always one list has messages, nothing is held back, and the jobs at its claiming end were never
-- tried. Then there is nothing to choose, what is alike for many is written once, and a row is changed without being
-- unpacked. It stands before ground, whose many functions cost a small claim more than all else. Returns what claim
-- does, and two words more: the entries of the leases, and the token all of them have with their ids behind it, in one
-- text, for an answer of its own costs the server more than its bytes; nil if anything is otherwise, and nothing has
-- changed then.
-- include: telling
-- include: aging
local ANSWER_BYTES_MAX = 8388608
local STRAIGHT_MAX = 2000
local function claim_straight()
  local call, pcall, root = redis.call, redis.pcall, string.sub(KEYS[1], 1, -7)
  local now, stamp, worker, limit, request = ARGV[2], ARGV[3], ARGV[4], tonumber(ARGV[5]), ARGV[10] .. '\31'
  if limit < 1 or limit > STRAIGHT_MAX or ARGV[8] ~= '0' then return nil end
  local processing, answered, strange = KEYS[#KEYS - 2], KEYS[#KEYS - 1], KEYS[#KEYS]
  if call('GETRANGE', answered, 0, #request - 1) == request then return nil end
  local found = call('ZRANGE', KEYS[9], 0, 1)
  if #found ~= 1 then return nil end
  local lane = found[1]
  local tenant, list = string.match(lane, '^%d%d(.-)\31(.*)$')
  -- Deletions, pauses, suspects, what this worker could not adopt, messages in other lists.
  local others = {KEYS[12], KEYS[13], KEYS[15], strange}
  for place = 23, #KEYS - 3 do
    if KEYS[place] ~= list then others[#others + 1] = KEYS[place] end
  end
  if call('EXISTS', unpack(others)) > 0 then return nil end

  -- One more than asked for: how old the next one is must be known as well.
  local elements = pcall('LRANGE', list, -limit - 1, -1)
  local many, next_at = math.min(#elements, limit), nil
  if many == 0 then return nil end
  if #elements > limit then
    next_at = created_us_of(elements[1])
    if not next_at then return nil end
  end
  -- What only looks like a ticket of ours has no row, and is met below; a pattern would cost as much as a command.
  -- A copy somebody put beside a ticket would be a second lease of one job.
  local ids, keys, taken, met = {}, {}, {}, {}
  local task, entry, find, sub = root .. 'task:', root .. 'entry:', string.find, string.sub
  for at = 1, many do
    local element = elements[#elements - at + 1]
    local id_ends = find(element, '","seq":', 12, true)
    if not id_ends or sub(element, 1, 11) ~= '{"job_id":"' then return nil end
    local id = sub(element, 12, id_ends - 1)
    if met[id] then return nil end
    met[id] = true
    ids[at], taken[at], keys[at], keys[many + at] = id, element, task .. id, entry .. id
  end

  -- A job that never moved has no row. One that was submitted beside others it met has one, which begins as ready and
  -- ends with no deletion before it, its list and five facts nobody has told. Those of one submit are one text, and looked
  -- at once.
  local texts, bytes, untouched = call('MGET', unpack(keys)), 0, {}
  local item_types, waiting, whose, unpack_limit = {}, {}, tenant .. '\31', cmsgpack.unpack_limit
  local in_list = cmsgpack.pack(list)
  local untold, marks = '\1610' .. in_list .. '\160\160\160\160\160', #in_list + 17
  for at = 1, many do
    local row, text = texts[at], texts[many + at]
    if not text then return nil end
    if not row then
      -- Nothing has happened to it: its entry ends with when it came to be, and the list.
      row = sub(text, -marks)
      if not untouched[row] then
        if string.byte(row) ~= 176 or not find(row, in_list, 18, true) then return nil end
        untouched[row] = '\160\160' .. sub(row, 1, 17) .. '\1610' .. in_list
      end
      texts[at] = row
    elseif not untouched[row] then
      if find(row, '\155\165ready', 1, true) ~= 1 or not find(row, untold, -#untold, true) then return nil end
      untouched[row] = sub(row, 8, -6)
    end
    bytes = bytes + #text
    -- An entry is a list of more than fifteen texts, its id the first of them.
    local id_bytes = #ids[at]
    local _, item_type, _, _, _, _, key = unpack_limit(text, 6, id_bytes + (id_bytes < 32 and 4 or 5))
    item_types[at], waiting[at] = item_type, whose .. key
  end
  if bytes > ANSWER_BYTES_MAX then return nil end

  -- First what needs no memory, for the reason that urgent tells.
  call('LTRIM', list, 0, -many - 1)
  local ends = cmsgpack.unpack(ARGV[9])
  local seen = call('HMGET', KEYS[1], 'claims', 'token', 'unready')
  local token = math.max(tonumber(seen[2] or 0) + 1, math.floor(tonumber(now) * 1000000 + 0.5))
  local shown = string.format('%d', token)
  local same_for_all, leased, micros = cmsgpack.pack(shown) .. cmsgpack.pack(worker), {}, {}
  local words, scores, leases, hash = {}, {}, {}, root .. 'job:'
  for at = 1, many do
    local id, row = ids[at], texts[at]
    local upto = ends[item_types[at]] or ends['']
    local same = leased[upto]
    if not same then
      same = {told = same_for_all .. cmsgpack.pack(upto) .. cmsgpack.pack(now) .. '\160'}
      leased[upto], micros[upto] = same, string.format('%.0f', tonumber(upto) * 1000000)
    end
    if not same[row] then same[row] = '\155\166leased' .. untouched[row] .. same.told end
    words[2 * at - 1], words[2 * at] = keys[at], same[row]
    scores[2 * at - 1], scores[2 * at] = micros[upto], id
    leases[at] = texts[many + at]
    local key_of_hash = hash .. id
    if type(pcall('HSET', key_of_hash, 'status', 'processing', 'started_at', stamp)) == 'table' then
      tell(key_of_hash, id, 'status', 'processing', 'started_at', stamp)
    end
  end
  call('MSET', unpack(words))
  call('ZADD', KEYS[5], unpack(scores))
  call('HDEL', KEYS[7], unpack(waiting))
  call('LPUSH', processing, unpack(taken))
  if next_at then
    call('ZADD', KEYS[10], next_at, lane)
  else
    call('ZREM', KEYS[9], lane)
    call('ZREM', KEYS[10], lane)
  end
  call('HSET', KEYS[11], string.sub(lane, 1, 2), lane)
  call('HINCRBY', KEYS[8], tenant, many)
  call('HSET', KEYS[1], 'claims', string.format('%d', tonumber(seen[1] or 0) + many), 'token',
    shown, 'unready', string.format('%d', tonumber(seen[3] or 0) + many))
  call('SET', answered, request .. cmsgpack.pack({token = token}), 'EX', 3600)
  return {0, 0, {}, {}, leases, shown .. ' ' .. table.concat(ids, ' ')}
end

do
  local answer = claim_straight()
  if answer then return answer end
end
