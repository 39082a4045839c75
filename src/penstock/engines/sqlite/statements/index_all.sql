-- index_all (sqlite): the vectors readers see in a generation. Index: versions_current.
SELECT c.version_id, c.chunk_id, v.document, e.vector FROM versions v INDEXED BY versions_current
  CROSS JOIN chunks c ON c.version_id = v.version_id CROSS JOIN embeddings e ON e.embedding_id = c.embedding_id
WHERE v.generation_id = ? AND v.state = 'current'
