-- submit_waiting (sqlite): the waiting job with this key. Index: idx_unified_queue_idempotency.
SELECT queue_id, op, delete_first, document_id FROM unified_queue
WHERE idempotency_key = :key AND tenant_id = :tenant AND keyed AND status = 'pending'
