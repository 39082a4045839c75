-- adopt_insert (sqlite): a job with the state, retries, error and times of the legacy row it comes from; submit_insert
-- makes only new waiting ones. Conflicts on the id or on the waiting key insert nothing; the caller looks. One that does
-- not wait asks for no key.
INSERT INTO unified_queue (queue_id, item_type, op, tenant_id, collection, priority, status, created_at, updated_at,
  idempotency_key, payload_json, retry_count, max_retries, error_message, last_error_at, branch, metadata, next_run_at,
  started_at, finished_at, error_code, keyed)
VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
