-- index_rows (sqlite): the vectors of a version. Index: chunks_ordinal.
SELECT c.chunk_id, v.document, e.vector FROM versions v
  CROSS JOIN chunks c ON c.version_id = v.version_id CROSS JOIN embeddings e ON e.embedding_id = c.embedding_id
WHERE v.version_id = ? ORDER BY c.ordinal
