-- submit_let_go (sqlite): whoever runs lets a newcomer have its key. Index: idx_unified_queue_idempotency.
UPDATE unified_queue SET keyed = 0
WHERE idempotency_key = :key AND tenant_id = :tenant AND keyed AND status <> 'pending'
