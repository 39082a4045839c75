-- manifest_points (sqlite): some chunks of a version, whose they are, their vectors and their words. Index:
-- chunks_ordinal.
SELECT c.chunk_id, v.generation_id, d.collection_id, d.document_id, d.number, d.tenant_id, d.workspace_id, e.vector,
  c.lead, c.text, c.grams
FROM versions v
  CROSS JOIN documents d ON d.number = v.document
  CROSS JOIN chunks c ON c.version_id = v.version_id
  CROSS JOIN embeddings e ON e.embedding_id = c.embedding_id
WHERE v.version_id = :version AND v.state <> 'gone' AND c.ordinal >= :first
ORDER BY c.ordinal LIMIT :limit
