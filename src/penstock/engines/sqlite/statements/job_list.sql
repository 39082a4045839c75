-- job_list (sqlite): jobs, newest first, by what is asked; walks back from the newest row.
SELECT queue_id, item_type, op, tenant_id, collection, priority, status, payload_json, idempotency_key, subject, created_at,
  updated_at, retry_count, max_retries, crashes, branch, metadata, document_id, next_run_at, lease_until, worker_id,
  started_at, finished_at, parked_since, error_code, error_message, last_error_at, behind, paused, cancel_code,
  delete_first, progress_done, progress_total, replay_of
FROM unified_queue
WHERE (:status IS NULL OR status = :status)
  AND (:delayed IS NULL OR (next_run_at IS NOT NULL) = :delayed)
  AND (:tenant IS NULL OR tenant_id = :tenant)
  AND (:collection IS NULL OR collection = :collection)
  AND (:item_type IS NULL OR item_type = :item_type)
  AND (:error_code IS NULL OR error_code = :error_code)
  AND (:before IS NULL OR rowid < (SELECT rowid FROM unified_queue WHERE queue_id = :before))
ORDER BY rowid DESC LIMIT :limit
