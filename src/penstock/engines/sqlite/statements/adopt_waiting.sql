-- adopt_waiting (sqlite): the waiting job with this key, and how old its intent is. idx_unified_queue_idempotency.
SELECT queue_id, op, created_at FROM unified_queue
WHERE idempotency_key = :key AND tenant_id = :tenant AND keyed AND status = 'pending'
