-- submit_one: accept one job that meets nothing, as submit_new does many: a submit that somebody waits for is mostly of
-- one, and what many need (columns, portions, forms) costs it a third. Returns 1, or 0 if it meets something, and has
-- changed nothing then.
-- KEYS counts, jobs, waiting, lanes, ages, closed, the list it waits in, its tenant's subjects, the blank of its collection.
-- ARGV[1] the lane of that list; [2] collection; [3] now in microseconds; [4] its id; [5] its name among the waiting;
-- [6] subject; [7] name of its file; [8] submitted_at; [9] what follows created_us in its message; [10] its entry,
-- packed, which ends with [3] and the list: it has no row until something happens to it.
-- include: aging
-- include: blank
local call = redis.call
local list, subjects, blank = KEYS[7], KEYS[8], KEYS[9]
local root, lane, shown, id, name, entry = string.sub(KEYS[1], 1, -7), ARGV[1], ARGV[3], ARGV[4], ARGV[5], ARGV[10]
local LATE_MICROS_MAX = 500000
local task, kept = root .. 'task:' .. id, root .. 'entry:' .. id
if call('EXISTS', KEYS[6], task, kept) > 0 then return 0 end
local newest = redis.pcall('LINDEX', list, 0)
if type(newest) == 'table' then return 0 end
if newest then
  -- Both are as long for some centuries, and then compare as texts do.
  local at = created_us_of(newest)
  if not at or #at ~= #shown then return 0 end
  if at > shown then
    -- Who looked at the clock first and came second is second.
    if tonumber(at) - tonumber(shown) > LATE_MICROS_MAX then return 0 end
    local begins = #entry - #cmsgpack.pack(list) - #at
    entry, shown = string.sub(entry, 1, begins) .. at .. string.sub(entry, begins + #at + 1), at
  end
end
-- Looking and taking the place in one: whoever finds the second one taken gives the first one back.
if call('HSETNX', KEYS[3], name, id) == 0 then return 0 end
if call('HSETNX', subjects, ARGV[6], id) == 0 then
  call('HDEL', KEYS[3], name)
  return 0
end

-- The documented hash is copied from one that is kept for it, because one of as many fields takes long to write. A copy
-- is not made over the hash of a job long gone, which must not expire now.
local key = root .. 'job:' .. id
local told = call('COPY', blank, key) == 1
  and redis.pcall('HSET', key, 'job_id', id, 'filename', ARGV[7], 'submitted_at', ARGV[8])
if type(told) ~= 'number' then
  call('DEL', key, key .. ':ttl', blank)
  call('HSET', blank, blank_fields('', ARGV[2], '', ''))
  call('HSET', key, blank_fields(id, ARGV[2], ARGV[7], ARGV[8]))
end
local number = string.format('%d', call('HINCRBY', KEYS[1], 'seq', 1))
call('SET', kept, entry)
call('ZADD', KEYS[2], number, id)
call('LPUSH', list, '{"job_id":"' .. id .. '","seq":' .. number .. ',"created_us":' .. shown .. ARGV[9])
if not newest then
  call('ZADD', KEYS[4], 0, lane)
  call('ZADD', KEYS[5], shown, lane)
end
call('PUBLISH', root .. 'wake', '')
return 1
