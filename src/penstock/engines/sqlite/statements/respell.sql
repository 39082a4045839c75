-- respell (sqlite): write a row's short texts again. The table's own b-tree.
UPDATE unified_queue SET queue_id = ?2, tenant_id = ?3, collection = ?4, created_at = ?5, updated_at = ?6,
  lease_until = ?7, worker_id = ?8, idempotency_key = ?9, error_message = ?10, last_error_at = ?11, branch = ?12,
  document_id = ?13, next_run_at = ?14, behind = ?15, started_at = ?16, finished_at = ?17, parked_since = ?18,
  error_code = ?19, cancel_code = ?20, replay_of = ?21
WHERE rowid = ?1
