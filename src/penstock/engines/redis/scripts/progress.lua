-- progress: how far a running attempt is; 0 if its lease was lost. ARGV[4] id, [5] token, [6] done, [7] total or '';
-- [8] chunks that are kept, each with its vector.
-- include: ground
-- include: urgent
-- include: status
local task = load(ARGV[4])
if not task or task.place ~= 'leased' or task.token ~= ARGV[5] then return 0 end
-- Kept with its token: the next attempt starts from nothing without having to say so.
change(ARGV[4], task, 'progress', ARGV[5] .. ':' .. ARGV[6] .. ':' .. ARGV[7], 'updated_at', NOW)
if ARGV[8] ~= '0' then show(ARGV[4], task, 'chunks_created', ARGV[8], 'embeddings_generated', ARGV[8]) end
write_tasks()
return 1
