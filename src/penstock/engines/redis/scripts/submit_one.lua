-- submit_one: accept one job that meets nothing, as submit_new does many: a submit that somebody waits for is mostly of
-- one, and what many need (columns, portions, forms) costs it a third. Returns 1, or 0 if it meets something, and has
-- changed nothing then.
-- KEYS counts, jobs, waiting, lanes, ages, closed, blank, the list it waits in, its tenant's subjects.
-- ARGV[1] now in microseconds; [2] the lane of that list; [3] its id; [4] its name among the waiting; [5] subject;
-- [6] collection; [7] name of its file; [8] submitted_at; [9] what follows created_us in its message; [10] its entry and
-- [11] its row, packed.
-- include: aging
-- include: blank
local call = redis.call
local blank, list, subjects = KEYS[7], KEYS[8], KEYS[9]
local root, shown, lane, id, name, row = string.sub(KEYS[1], 1, -7), ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[11]
local LATE_MICROS_MAX = 500000
local task = root .. 'task:' .. id
if call('EXISTS', KEYS[6], task) > 0 then return 0 end
local newest = redis.pcall('LINDEX', list, 0)
if type(newest) == 'table' then return 0 end
if newest then
  -- Both are as long for some centuries, and then compare as texts do.
  local at = created_us_of(newest)
  if not at or #at ~= #shown then return 0 end
  if at > shown then
    -- Who looked at the clock first and came second is second.
    if tonumber(at) - tonumber(shown) > LATE_MICROS_MAX then return 0 end
    local begins, ends = string.find(row, shown, 1, true)
    row, shown = string.sub(row, 1, begins - 1) .. at .. string.sub(row, ends + 1), at
  end
end
-- Looking and taking the place in one: whoever finds the second one taken gives the first one back.
if call('HSETNX', KEYS[3], name, id) == 0 then return 0 end
if call('HSETNX', subjects, ARGV[5], id) == 0 then
  call('HDEL', KEYS[3], name)
  return 0
end

-- The documented hash is copied from one that is kept for it, because one of as many fields takes long to write. A copy
-- is not made over the hash of a job long gone, which must not expire now.
local key = root .. 'job:' .. id
local told = call('COPY', blank, key) == 1
  and redis.pcall('HSET', key, 'job_id', id, 'rag_id', ARGV[6], 'filename', ARGV[7], 'submitted_at', ARGV[8])
if type(told) ~= 'number' then
  call('DEL', key, key .. ':ttl', blank)
  call('HSET', blank, blank_fields('', '', '', ''))
  call('HSET', key, blank_fields(id, ARGV[6], ARGV[7], ARGV[8]))
end
local number = string.format('%d', call('HINCRBY', KEYS[1], 'seq', 1))
call('MSET', task, row, root .. 'entry:' .. id, ARGV[10])
call('ZADD', KEYS[2], number, id)
call('LPUSH', list, '{"job_id":"' .. id .. '","seq":' .. number .. ',"created_us":' .. shown .. ARGV[9])
if not newest then
  call('ZADD', KEYS[4], 0, lane)
  call('ZADD', KEYS[5], shown, lane)
end
call('PUBLISH', root .. 'wake', '')
return 1
