-- manifest_chunks (sqlite): the chunks of a version. Index: chunks_ordinal.
SELECT chunk_id FROM chunks WHERE version_id = ? ORDER BY ordinal
