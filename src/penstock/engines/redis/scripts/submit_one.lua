-- submit_one: accept one job that meets nothing, as submit_new does many: a submit that somebody waits for is mostly of
-- one, and what many need (columns, portions, forms) costs it a third. Returns 1, or 0 if it meets something, and has
-- changed nothing then.
-- KEYS counts, jobs, waiting, lanes, ages, closed. ARGV[1] now in seconds; [2] the list it waits in; [3] the lane of that;
-- [4] its tenant; [5] its id; [6] its name among the waiting; [7] subject; [8] collection; [9] name of its file;
-- [10] submitted_at; [11] the beginning of its row; [12] what follows created_us in its message; [13] its entry, packed.
-- include: aging
local call = redis.call
local root, now, list, lane, tenant, id, subject =
  string.sub(KEYS[1], 1, -7), ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5], ARGV[7]
local LATE_MICROS_MAX = 500000
local task, subjects = root .. 'task:' .. id, root .. 'subjects:' .. tenant
if call('EXISTS', KEYS[6], task) > 0 then return 0 end
local newest, micros = call('LINDEX', list, 0), math.floor(tonumber(now) * 1000000 + 0.5)
if newest then
  local at = tonumber(created_us_of(newest) or '')
  if not at or at - micros > LATE_MICROS_MAX then return 0 end
  -- Who looked at the clock first and came second is second.
  micros = math.max(at, micros)
end
-- Looking and taking the place in one: whoever finds the second one taken gives the first one back.
if call('HSETNX', KEYS[3], ARGV[6], id) == 0 then return 0 end
if call('HSETNX', subjects, subject, id) == 0 then
  call('HDEL', KEYS[3], ARGV[6])
  return 0
end

-- The documented hash is copied from one that is kept for it, because one of as many fields takes long to write. A copy
-- is not made over the hash of a job long gone, which must not expire now.
local key, blank = root .. 'job:' .. id, root .. 'blank'
if call('COPY', blank, key) == 1 then
  call('HSET', key, 'job_id', id, 'rag_id', ARGV[8], 'filename', ARGV[9], 'submitted_at', ARGV[10])
else
  call('DEL', key, key .. ':ttl')
  for _, made in ipairs({blank, key}) do  -- the first is there for the next job, and names none
    call('HSET', made, 'job_id', made == key and id or '', 'rag_id', ARGV[8], 'filename', ARGV[9], 'status', 'queued', 'submitted_at',
      ARGV[10], 'started_at', '', 'completed_at', '', 'duration_seconds', '', 'chunks_created', '0',
      'embeddings_generated', '0', 'tokens_used', '0', 'error', '', 'error_type', '', 'retry_count', '0')
  end
end
local number = string.format('%d', call('HINCRBY', KEYS[1], 'seq', 1))
local shown = string.format('%d', micros)
call('MSET', task, ARGV[11] .. cmsgpack.pack(shown) .. cmsgpack.pack(number) .. '\1610' .. cmsgpack.pack(list) ..
  '\160\160\160\160\160', root .. 'entry:' .. id, ARGV[13])
call('ZADD', KEYS[2], number, id)
call('HINCRBY', root .. 'unfinished:' .. tenant, '0', 1)
call('LPUSH', list, '{"job_id":"' .. id .. '","seq":' .. number .. ',"created_us":' .. shown .. ARGV[12])
if not newest then
  call('ZADD', KEYS[4], 0, lane)
  call('ZADD', KEYS[5], shown, lane)
end
call('HINCRBY', KEYS[1], 'ready', 1)
call('PUBLISH', root .. 'wake', '')
return 1
