-- pause: hold a scope back; pausing twice keeps the first. ARGV[4] scope and name as `scope:name`, ARGV[5] who.
-- include: ground
call('HSETNX', K.pauses, ARGV[4], NOW .. SEPARATOR .. ARGV[5])
call('SREM', K.lifted, ARGV[4])
return 1
