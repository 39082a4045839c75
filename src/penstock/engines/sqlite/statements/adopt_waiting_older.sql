-- adopt_waiting_older (sqlite): the same as adopt_waiting in a file that was not migrated, for a rehearsal.
-- idx_unified_queue_idempotency, as it was before rows told whether they hold their key.
SELECT queue_id, op, created_at FROM unified_queue
WHERE idempotency_key = :key AND tenant_id = :tenant AND status = 'pending'
