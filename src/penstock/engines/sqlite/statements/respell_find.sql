-- respell_find (sqlite): every row's short texts. The whole table: asked only once a row was met that cannot be read.
-- Payload and metadata are left out: they are read leniently wherever they are read.
SELECT rowid, queue_id, tenant_id, collection, created_at, updated_at, lease_until, worker_id, idempotency_key,
  error_message, last_error_at, branch, document_id, next_run_at, behind, started_at, finished_at, parked_since,
  error_code, cancel_code, replay_of
FROM unified_queue
