-- barrier_end (sqlite): end what waited before a tenant deletion, so many a call. Index: queue_unfinished.
UPDATE unified_queue SET status = 'failed', finished_at = :now, updated_at = :now, behind = NULL, next_run_at = NULL,
  paused = 0, keyed = 0, error_code = 'ERR_SUPERSEDED', last_error_at = :now,
  error_message = 'the tenant is being deleted'
WHERE rowid IN (SELECT rowid FROM unified_queue INDEXED BY queue_unfinished
  WHERE finished_at IS NULL AND tenant_id = :tenant AND status = 'pending' AND generation < :generation AND queue_id <> :id
  LIMIT 2000)
