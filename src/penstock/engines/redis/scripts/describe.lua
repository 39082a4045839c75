-- describe: what a job made of its document, in its documented hash and in those of the messages that joined it; a job
-- nobody knows gets none.
-- ARGV[4] id, [5] chunks, [6] embeddings, [7] tokens.
-- include: ground
-- include: status
local id = resolve(ARGV[4])
if call('EXISTS', hash_key(id)) == 0 then return 0 end
show(id, load(id) or {aliased = ''}, 'chunks_created', ARGV[5], 'embeddings_generated', ARGV[6], 'tokens_used', ARGV[7])
return 1
