-- settle_delete_first (sqlite): the successor must also do the delete that could not end. idx_unified_queue_idempotency.
UPDATE unified_queue SET delete_first = 1
WHERE idempotency_key = :key AND tenant_id = :tenant AND keyed AND status = 'pending' AND op <> 'delete'
