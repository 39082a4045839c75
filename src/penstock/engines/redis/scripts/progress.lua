-- progress: how far a running attempt is; 0 if its lease was lost. ARGV[4] id, [5] token, [6] done, [7] total or ''.
-- include: ground
-- include: urgent
local seen = call('HMGET', task_key(ARGV[4]), 'place', 'token')
if seen[1] ~= 'leased' or seen[2] ~= ARGV[5] then return 0 end
-- Kept with its token: the next attempt starts from nothing without having to say so.
call('HSET', task_key(ARGV[4]), 'progress', ARGV[5] .. ':' .. ARGV[6] .. ':' .. ARGV[7], 'updated_at', NOW)
return 1
