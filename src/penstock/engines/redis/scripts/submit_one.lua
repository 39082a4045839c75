-- submit_one: accept one job that meets nothing, as submit_new does many: a submit that somebody waits for is mostly of
-- one, and what many need (columns, portions, forms) costs it a third. Returns 1, or 0 if it meets something, and has
-- changed nothing then.
-- KEYS counts, jobs, waiting, lanes, ages, closed, blank, the list it waits in, its tenant's subjects and unfinished.
-- ARGV[1] now in seconds; [2] the lane of that list; [3] its id; [4] its name among the waiting; [5] subject;
-- [6] collection; [7] name of its file; [8] submitted_at; [9] what follows created_us in its message; [10] its entry, packed.
-- include: aging
-- include: blank
local call = redis.call
local blank, list, subjects, unfinished = KEYS[7], KEYS[8], KEYS[9], KEYS[10]
local root, now, lane, id, name = string.sub(KEYS[1], 1, -7), ARGV[1], ARGV[2], ARGV[3], ARGV[4]
local LATE_MICROS_MAX = 500000
local task = root .. 'task:' .. id
if call('EXISTS', KEYS[6], task) > 0 then return 0 end
local newest, micros = redis.pcall('LINDEX', list, 0), math.floor(tonumber(now) * 1000000 + 0.5)
if type(newest) == 'table' then return 0 end
if newest then
  local at = tonumber(created_us_of(newest) or '')
  if not at or at - micros > LATE_MICROS_MAX then return 0 end
  -- Who looked at the clock first and came second is second.
  micros = math.max(at, micros)
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
local shown = string.format('%d', micros)
call('MSET', task, '\155\165ready\160' .. cmsgpack.pack(now) .. cmsgpack.pack(shown) .. '\1610' .. cmsgpack.pack(list) ..
  '\160\160\160\160\160', root .. 'entry:' .. id, ARGV[10])
call('ZADD', KEYS[2], number, id)
call('HINCRBY', unfinished, '0', 1)
call('LPUSH', list, '{"job_id":"' .. id .. '","seq":' .. number .. ',"created_us":' .. shown .. ARGV[9])
if not newest then
  call('ZADD', KEYS[4], 0, lane)
  call('ZADD', KEYS[5], shown, lane)
end
call('HINCRBY', KEYS[1], 'ready', 1)
call('PUBLISH', root .. 'wake', '')
return 1
