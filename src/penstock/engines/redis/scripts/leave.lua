-- leave: forget a worker that holds nothing any more; 0 if it still does. ARGV[4] worker. Its own keys: its heartbeat, what
-- its beats say, its processing list, what it was answered last, messages it could not adopt.
-- include: ground
-- include: urgent
-- include: strangers
-- include: holders
if #held_by(ARGV[4]) > 0 then return 0 end
return_strangers(own_key(5), own_key(3))
call('ZREM', K.workers, ARGV[4])
call('DEL', own_key(1), own_key(2), own_key(4))
write_counts()
return 1
