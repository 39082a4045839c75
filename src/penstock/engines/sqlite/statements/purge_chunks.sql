-- purge_chunks (sqlite): some chunks of a version, and their vectors. Index: chunks_ordinal.
SELECT chunk_id, embedding_id FROM chunks WHERE version_id = ? LIMIT ?
