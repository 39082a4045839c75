-- batch_failures (sqlite): row numbers of a batch's failed children, the latest first.
-- Index: idx_unified_queue_failed, then the members' primary key, so the cost is that of what has failed.
SELECT j.rowid FROM unified_queue j INDEXED BY idx_unified_queue_failed
WHERE j.status = 'failed' AND j.batched = 1
  AND EXISTS (SELECT 1 FROM queue_batch_members m WHERE m.queue_id = j.queue_id AND m.batch_id = :batch)
ORDER BY j.last_error_at DESC LIMIT :limit
