-- audit_chunk_vectors (sqlite): documents with chunks that have no vector, or one of another length or model than their
-- generation's. Indexes: versions_current, chunks_ordinal, the embeddings' primary key.
SELECT v.version_id, d.document_id, d.name, count(*)
FROM collections c
  JOIN versions v INDEXED BY versions_current ON v.generation_id IN (c.generation, c.building) AND v.state = 'current'
  JOIN documents d ON d.number = v.document
  JOIN generations g ON g.generation_id = v.generation_id
  JOIN chunks k ON k.version_id = v.version_id
  LEFT JOIN embeddings e ON e.embedding_id = k.embedding_id
  LEFT JOIN models m ON m.model_id = e.model_id
WHERE c.removed_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM stages s JOIN unified_queue q ON q.queue_id = s.queue_id
    WHERE s.document = d.number AND q.finished_at IS NULL)
  AND (e.embedding_id IS NULL OR m.model_id IS NULL OR length(e.vector) <> m.bytes OR e.model_id IS NOT g.model_id)
GROUP BY v.version_id
LIMIT :limit
