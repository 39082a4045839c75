-- audit_document_waiting (sqlite): documents that wait although no job will come to them. Indexes: documents_state,
-- stages_document, the queue's primary key.
SELECT d.document_id, d.name, d.state FROM documents d INDEXED BY documents_state
  JOIN collections c ON c.collection_id = d.collection_id
WHERE d.state IN ('pending', 'parsed') AND d.hidden_at IS NULL AND c.removed_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM stages s JOIN unified_queue q ON q.queue_id = s.queue_id
    WHERE s.document = d.number AND q.finished_at IS NULL)
LIMIT :limit
