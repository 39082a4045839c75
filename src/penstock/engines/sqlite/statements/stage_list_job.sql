-- stage_list_job (sqlite): a job's stages, oldest first. Index: stages_job.
SELECT s.stage_id, s.kind, d.document_id, s.queue_id, s.state, s.retry_count, s.next_run_at, s.error_code, s.error_message,
  s.created_at, s.updated_at, s.finished_at
FROM stages s JOIN documents d ON d.number = s.document WHERE s.queue_id = ? ORDER BY s.number
