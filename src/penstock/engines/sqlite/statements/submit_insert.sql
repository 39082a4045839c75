-- submit_insert (sqlite): a new waiting job. Conflicts on the id or on a held key insert nothing; the caller looks.
-- ?1 is the time and ?2 whether it belongs to a batch, for however many rows; the rest is each job's own.
INSERT INTO unified_queue (created_at, updated_at, batched, status, keyed, queue_id, item_type, op, tenant_id, collection,
  priority, idempotency_key, payload_json, max_retries, branch, metadata, document_id, next_run_at, replay_of, delete_first)
VALUES (?1, ?1, ?2, 'pending', 1, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
ON CONFLICT DO NOTHING
