-- describe: what a job made of its document, in its documented hash; a job nobody knows gets none.
-- ARGV[4] id, [5] chunks, [6] embeddings, [7] tokens.
-- include: ground
local key = hash_key(ARGV[4])
if call('EXISTS', key) == 0 then return 0 end
call('HSET', key, 'chunks_created', ARGV[5], 'embeddings_generated', ARGV[6], 'tokens_used', ARGV[7])
return 1
