-- submit_new: accept jobs that meet nothing: no id, key or subject of theirs is known, no tenant is under deletion, and
-- they are the youngest of their lists. Returns 1, or 0 if one meets something, and has changed nothing then: `submit`
-- takes the whole list. It does without ground, whose many functions cost a single submit more than all else here.
-- KEYS counts, jobs, waiting, lanes, ages, closed. ARGV[1] the root of names; [2] now in seconds, [3] as ISO 8601;
-- [4] the channel that wakes; [5] packed {{list, lane} each, which of them each job waits in}; [6] and on, entries,
-- each packed.
local call = redis.call
local ROOT, NOW, STAMP = ARGV[1], ARGV[2], ARGV[3]
local SEPARATOR = '\31'
local MICROS = string.format('%.0f', tonumber(NOW) * 1000000)
local lists, which = unpack(cmsgpack.unpack(ARGV[5]))
local many = #ARGV - 5

local function gathered(command, key, members)
  for from = 1, #members, 4000 do
    call(command, key, unpack(members, from, math.min(from + 3999, #members)))
  end
end

local function anything(key, names)
  for from = 1, #names, 4000 do
    for _, found in ipairs(call('HMGET', key, unpack(names, from, math.min(from + 3999, #names)))) do
      if found then return true end
    end
  end
  return false
end

if call('EXISTS', KEYS[6]) == 1 then return 0 end
for _, list in ipairs(lists) do
  local newest = call('LINDEX', list[1], 0)
  list.empty = not newest
  if newest then
    local at = string.match(newest, '^{"job_id":"[%w%._:%-]+","seq":%d+,"created_us":(%d+),')
    if not at or tonumber(at) > tonumber(MICROS) then return 0 end
  end
  list.elements = {}
end

local entries, keys, names, by_tenant, met = {}, {}, {}, {}, {}
for at = 1, many do
  local entry = cmsgpack.unpack(ARGV[at + 5])
  local id, tenant, subject = entry[1], entry[4], entry[8]
  local name = tenant .. SEPARATOR .. entry[7]
  local thing = tenant .. SEPARATOR .. SEPARATOR .. subject
  if met[id] or met[name] or met[thing] then return 0 end
  met[id], met[name], met[thing] = true, true, true
  entries[at], names[at] = entry, name
  keys[2 * at - 1], keys[2 * at] = ROOT .. 'task:' .. id, ROOT .. 'job:' .. id .. ':ttl'
  local subjects = by_tenant[tenant] or {}
  by_tenant[tenant] = subjects
  subjects[#subjects + 1] = subject
end
for from = 1, #keys, 4000 do
  if call('EXISTS', unpack(keys, from, math.min(from + 3999, #keys))) > 0 then return 0 end
end
if anything(KEYS[3], names) then return 0 end
for tenant, subjects in pairs(by_tenant) do
  if anything(ROOT .. 'subjects:' .. tenant, subjects) then return 0 end
end

-- The documented hash; many alike are copied from a form, which costs less than half.
local FORM = ROOT .. 'form'
local formed = nil
local function fill(key, id, entry)
  local submitted_at = entry[15] ~= '' and entry[15] or STAMP
  call('HSET', key, 'job_id', id, 'rag_id', entry[5], 'filename', entry[14], 'status', 'queued', 'submitted_at',
    submitted_at, 'started_at', '', 'completed_at', '', 'duration_seconds', '', 'chunks_created', '0',
    'embeddings_generated', '0', 'tokens_used', '0', 'error', '', 'error_type', '', 'retry_count', '0')
end
local function write_status(id, entry)
  local key = ROOT .. 'job:' .. id
  if many < 4 or entry[15] ~= '' then return fill(key, id, entry) end
  if formed ~= entry[5] then
    fill(FORM, '', entry)
    formed = entry[5]
  end
  if call('COPY', FORM, key) == 0 then return fill(key, id, entry) end
  call('HSET', key, 'job_id', id, 'filename', entry[14])
end

local seq = call('HINCRBY', KEYS[1], 'seq', many) - many
local texts, waiting, jobs, firsts = {}, {}, {}, {}
for at, entry in ipairs(entries) do
  local id, tenant, subject = entry[1], entry[4], entry[8]
  local list = lists[which[at]]
  local number = string.format('%.0f', seq + at)
  -- A row of facts, as ground orders them.
  texts[4 * at - 3], texts[4 * at - 2] = keys[2 * at - 1], cmsgpack.pack({'ready', tenant, subject, entry[2], entry[7],
    NOW, MICROS, number, '0', list[1], '', '', '', '', ''})
  texts[4 * at - 1], texts[4 * at] = ROOT .. 'entry:' .. id, ARGV[at + 5]
  waiting[2 * at - 1], waiting[2 * at] = names[at], id
  jobs[2 * at - 1], jobs[2 * at] = number, id
  list.elements[#list.elements + 1] =
    '{"job_id":"' .. id .. '","seq":' .. number .. ',"created_us":' .. MICROS .. entry[16]
  local subjects = firsts[tenant] or {}
  firsts[tenant] = subjects
  subjects[#subjects + 1] = subject
  subjects[#subjects + 1] = id
  write_status(id, entry)
end
if formed then call('DEL', FORM) end
for from = 1, #texts, 4000 do call('MSET', unpack(texts, from, math.min(from + 3999, #texts))) end
gathered('HSET', KEYS[3], waiting)
gathered('ZADD', KEYS[2], jobs)
for tenant, subjects in pairs(firsts) do
  gathered('HSET', ROOT .. 'subjects:' .. tenant, subjects)
  call('HINCRBY', ROOT .. 'unfinished:' .. tenant, '0', #subjects / 2)
end
for _, list in ipairs(lists) do
  gathered('LPUSH', list[1], list.elements)
  if list.empty then
    call('ZADD', KEYS[4], 0, list[2])
    call('ZADD', KEYS[5], MICROS, list[2])
  end
end
call('HINCRBY', KEYS[1], 'ready', many)
call('PUBLISH', ARGV[4], '')
return 1
