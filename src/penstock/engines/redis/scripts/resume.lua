-- resume: lift a pause; promote lets go of what it had set aside. Returns 0 if there was none. ARGV[4] `scope:name`.
-- include: ground
if call('HDEL', K.pauses, ARGV[4]) == 0 then return 0 end
if call('EXISTS', NAMES.root .. 'aside:' .. ARGV[4]) == 1 then call('SADD', K.lifted, ARGV[4]) end
ring()
write_counts()
return 1
