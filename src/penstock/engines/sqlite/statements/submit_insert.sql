-- submit_insert (sqlite): a new waiting job. Conflicts on the id or on the waiting key insert nothing; the caller looks.
INSERT INTO unified_queue (queue_id, item_type, op, tenant_id, collection, priority, status, created_at, updated_at,
  idempotency_key, payload_json, max_retries, branch, metadata, document_id, next_run_at, replay_of, delete_first, batched)
VALUES (?, ?, ?, ?, ?, ?, 'pending', ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
