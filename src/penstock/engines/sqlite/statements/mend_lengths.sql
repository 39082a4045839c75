-- mend_lengths (sqlite): the vectors of a version's chunks. Indexes: chunks_ordinal, the embeddings' primary key.
SELECT DISTINCT e.embedding_id, e.vector FROM chunks k JOIN embeddings e ON e.embedding_id = k.embedding_id
WHERE k.version_id = ?
