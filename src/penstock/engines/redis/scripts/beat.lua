-- beat: a worker process is alive and fetching. ARGV[4] worker, [5] pid, [6] host, [7] process, [8] concurrency,
-- [9] its heartbeat key, [10] seconds after which that one goes.
-- include: ground
-- include: urgent
local key = NAMES.root .. 'worker:' .. ARGV[4]
call('ZADD', K.workers, NOW, ARGV[4])
call('HSETNX', key, 'started_at', NOW)
call('HSET', key, 'pid', ARGV[5], 'host', ARGV[6], 'process', ARGV[7], 'concurrency', ARGV[8], 'beat_at', NOW)
call('SET', ARGV[9], STAMP, 'EX', ARGV[10])
return 1
