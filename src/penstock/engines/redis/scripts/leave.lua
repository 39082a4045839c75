-- leave: forget a worker that holds nothing any more; 0 if it still does. ARGV[4] worker. Its own key: its heartbeat.
-- include: ground
-- include: urgent
-- include: strangers
-- include: holders
if #held_by(ARGV[4]) > 0 then return 0 end
return_strangers(ARGV[4])
call('ZREM', K.workers, ARGV[4])
call('DEL', NAMES.root .. 'worker:' .. ARGV[4], NAMES.root .. 'claimed:' .. ARGV[4], own_key(1))
write_counts()
return 1
