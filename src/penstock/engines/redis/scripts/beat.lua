-- beat: a worker process is alive and fetching. ARGV[4] worker, [5] pid, [6] host, [7] process, [8] concurrency,
-- [9] seconds after which its heartbeat key goes. Its own keys: that one, and what its beats say of it.
-- include: ground
-- include: urgent
local key = own_key(2)
call('ZADD', K.workers, NOW, ARGV[4])
call('HSETNX', key, 'started_at', NOW)
call('HSET', key, 'pid', ARGV[5], 'host', ARGV[6], 'process', ARGV[7], 'concurrency', ARGV[8], 'beat_at', NOW)
call('SET', own_key(1), STAMP, 'EX', ARGV[9])
return 1
