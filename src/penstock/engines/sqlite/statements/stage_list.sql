-- stage_list (sqlite): a document's stages, oldest first. Index: stages_document.
SELECT s.stage_id, s.kind, d.document_id, s.queue_id, s.state, s.retry_count, s.next_run_at, s.error_code, s.error_message,
  s.created_at, s.updated_at, s.finished_at
FROM documents d JOIN stages s ON s.document = d.number WHERE d.document_id = ? ORDER BY s.number
