-- job_rows (sqlite): jobs by their row numbers, newest first. The table's own b-tree, one seek each; payloads only
-- if :payload asks for them.
SELECT queue_id, item_type, op, tenant_id, collection, priority, status,
  CASE WHEN :payload THEN payload_json ELSE '{}' END, idempotency_key, subject, created_at,
  updated_at, retry_count, max_retries, crashes, branch, metadata, document_id, next_run_at, lease_until, worker_id,
  started_at, finished_at, parked_since, error_code, error_message, last_error_at, behind, paused, cancel_code,
  delete_first, progress_done, progress_total, replay_of,
  status = 'pending' AND EXISTS (SELECT 1 FROM queue_barriers b WHERE b.tenant_id = unified_queue.tenant_id
    AND (b.queue_id <> unified_queue.queue_id OR b.cleared = 0)),
  CASE error_code WHEN 'ERR_HANDLER_FAILED' THEN error_trace END
FROM unified_queue WHERE rowid IN (SELECT value FROM json_each(:rows)) ORDER BY rowid DESC
