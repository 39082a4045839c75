-- submit_new: accept jobs that meet nothing: no id, key or subject of theirs is known, no tenant is under deletion, and
-- they are the youngest of their lists. Returns 1, or 0 if one meets something, and has changed nothing then: `submit`
-- takes the whole list. It does without ground, whose many functions cost a single submit more than all else here, and
-- takes no entry apart: what it needs of each comes beside it.
-- KEYS counts, jobs, waiting, lanes, ages, closed, blank, form, then two for each list that jobs wait in: the list and
-- its tenant's subjects. ARGV[1] the root of names; [2] now in seconds, [3] as ISO 8601; [4] the channel that wakes; [5]
-- packed columns: the lanes of the lists and which of them each job waits in (a number if all wait in one), then ids,
-- names among the waiting, subjects, collections, names of files, submitted_at or '', and what follows created_us in
-- their messages; collections and submitted_at are one text each, if it is that of all; [6] and on, entries, each packed,
-- which end with now in microseconds and the list: such a job has no row until something happens to it.
-- include: aging
-- include: blank
local call = redis.call
local ROOT, NOW, STAMP = ARGV[1], ARGV[2], ARGV[3]
local lanes, which, ids, names, subjects, collections, files, submitted, tails =
  unpack(cmsgpack.unpack(ARGV[5]))
local many = #ids
local AT_ONCE = 4000
local LATE_MICROS_MAX = 500000

local function gathered(command, key, members)
  for from = 1, #members, AT_ONCE do
    call(command, key, unpack(members, from, math.min(from + AT_ONCE - 1, #members)))
  end
end

local function anything(key, fields)
  for from = 1, #fields, AT_ONCE do
    for _, found in ipairs(call('HMGET', key, unpack(fields, from, math.min(from + AT_ONCE - 1, #fields)))) do
      if found then return true end
    end
  end
  return false
end

if call('EXISTS', KEYS[6]) == 1 then return 0 end
local micros = math.floor(tonumber(NOW) * 1000000 + 0.5)
local asked = string.format('%d', micros)
local lists = {}
for at, lane in ipairs(lanes) do
  local list = {key = KEYS[7 + 2 * at], subjects = KEYS[8 + 2 * at], lane = lane}
  lists[at] = list
  local newest, began = redis.pcall('LINDEX', list.key, 0), micros
  if type(newest) == 'table' then return 0 end
  list.empty, list.elements = not newest, {}
  if newest then
    local at = tonumber(created_us_of(newest) or '')
    if not at or at - micros > LATE_MICROS_MAX then return 0 end
    -- Who looked at the clock first and came second is second.
    began = math.max(at, micros)
  end
  list.micros = string.format('%d', began)
  if #list.micros ~= #asked then return 0 end
  list.ends = #cmsgpack.pack(list.key)
end
-- An id may be that of a submit that joined another job, which has a row and no entry.
local rows = {}
for at = 1, many do rows[at] = ROOT .. 'task:' .. ids[at] end
for from = 1, many, AT_ONCE do
  if call('EXISTS', unpack(rows, from, math.min(from + AT_ONCE - 1, many))) > 0 then return 0 end
end
if anything(KEYS[3], names) then return 0 end
local by_tenant = {[lists[1].subjects] = subjects}
if which ~= 1 then
  by_tenant = {}
  for at = 1, many do
    local key = lists[which[at]].subjects
    by_tenant[key] = by_tenant[key] or {}
    table.insert(by_tenant[key], subjects[at])
  end
end
for key, theirs in pairs(by_tenant) do
  if anything(key, theirs) then return 0 end
end

local seq = tonumber(call('HGET', KEYS[1], 'seq') or 0)
local texts, waiting, jobs, firsts = {}, {}, {}, {}
local entry, list = ROOT .. 'entry:', lists[1]
for at = 1, many do
  if which ~= 1 then list = lists[which[at]] end
  local id, number, elements = ids[at], string.format('%d', seq + at), list.elements
  local text = ARGV[at + 5]
  if list.micros ~= asked then
    text = string.sub(text, 1, -list.ends - #asked - 1) .. list.micros .. string.sub(text, -list.ends)
  end
  texts[2 * at - 1], texts[2 * at] = entry .. id, text
  waiting[2 * at - 1], waiting[2 * at] = names[at], id
  jobs[2 * at - 1], jobs[2 * at] = number, id
  elements[#elements + 1] = '{"job_id":"' .. id .. '","seq":' .. number .. ',"created_us":' .. list.micros .. tails[at]
  local first = firsts[list.subjects] or {}
  firsts[list.subjects] = first
  first[#first + 1] = subjects[at]
  first[#first + 1] = id
end
-- Looking and writing in one: where a job of one of these ids is known, what was written before it is taken back.
for from = 1, #texts, AT_ONCE do
  if call('MSETNX', unpack(texts, from, math.min(from + AT_ONCE - 1, #texts))) == 0 then
    for at = 1, from - 1, 2 do call('DEL', texts[at]) end
    return 0
  end
end
call('HINCRBY', KEYS[1], 'seq', many)

-- The documented hash: copied from one that is kept for it, or for many alike from one made for them, because a hash of
-- as many fields takes long to write. A copy is not made over the hash of a job long gone, which must not expire now.
local function of(column, at) return type(column) == 'table' and column[at] or column end
local function fill(key, id, at)
  local told = of(submitted, at)
  call('HSET', key, blank_fields(id, of(collections, at), files[at], told ~= '' and told or STAMP))
end
local BLANK, FORM = KEYS[7], KEYS[8]
local formed = nil
local function write_status(id, at)
  local key, collection, told = ROOT .. 'job:' .. id, of(collections, at), of(submitted, at)
  if many >= 4 and told == '' then
    if formed ~= collection then
      if not formed then call('DEL', FORM) end
      fill(FORM, '', at)
      formed = collection
    end
    if call('COPY', FORM, key) == 1 then return call('HSET', key, 'job_id', id, 'filename', files[at]) end
  else
    local said = call('COPY', BLANK, key) == 1 and redis.pcall('HSET', key, 'job_id', id, 'rag_id', collection,
      'filename', files[at], 'submitted_at', told ~= '' and told or STAMP)
    if type(said) == 'number' then return said end
    call('DEL', BLANK)
    call('HSET', BLANK, blank_fields('', '', '', ''))
  end
  call('DEL', key, key .. ':ttl')
  fill(key, id, at)
end

for at = 1, many do write_status(ids[at], at) end
if formed then call('DEL', FORM) end
gathered('HSET', KEYS[3], waiting)
gathered('ZADD', KEYS[2], jobs)
for key, first in pairs(firsts) do gathered('HSET', key, first) end
for _, list in ipairs(lists) do
  gathered('LPUSH', list.key, list.elements)
  if list.empty then
    call('ZADD', KEYS[4], 0, list.lane)
    call('ZADD', KEYS[5], list.micros, list.lane)
  end
end
call('PUBLISH', ARGV[4], '')
return 1
