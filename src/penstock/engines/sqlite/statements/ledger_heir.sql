-- ledger_heir (sqlite): the entry that waits under a key, if it may run. Index: idx_unified_queue_idempotency.
SELECT queue_id, item_type, op, tenant_id, collection, priority, payload_json, max_retries, branch, metadata,
  document_id, next_run_at, replay_of, delete_first
FROM unified_queue
WHERE idempotency_key = :key AND tenant_id = :tenant AND keyed AND status = 'pending' AND paused <> 2
