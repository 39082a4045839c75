-- urgent: a server at its memory limit refuses a script at its first write that may need memory, and lets one go on
-- that has written before. What ends work must not wait for memory that only ending work sets free: so the first write is
-- one that takes nothing out.
call('ZREM', K.running, '')
