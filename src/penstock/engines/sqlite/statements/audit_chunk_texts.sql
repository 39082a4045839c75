-- audit_chunk_texts (sqlite): some chunks of current versions with the vectors they have, by id. Indexes: the primary
-- keys, stages_document. What has no vector that fits is another check's, and so is a document a job is at work on.
SELECT k.chunk_id, v.version_id, d.document_id, d.name, d.tenant_id, k.headings_json, k.text, e.text_key, e.vector
FROM chunks k
  CROSS JOIN versions v ON v.version_id = k.version_id AND v.state = 'current'
  JOIN documents d ON d.number = v.document
  JOIN embeddings e ON e.embedding_id = k.embedding_id
  JOIN models m ON m.model_id = e.model_id AND m.bytes = length(e.vector)
WHERE k.chunk_id > :after
  AND v.generation_id IN (SELECT generation FROM collections WHERE removed_at IS NULL
    UNION ALL SELECT building FROM collections WHERE removed_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM stages s JOIN unified_queue q ON q.queue_id = s.queue_id
    WHERE s.document = d.number AND q.finished_at IS NULL)
ORDER BY k.chunk_id LIMIT :limit
