-- promote_due (sqlite): rows whose time has come are ready. Index: queue_due, from its front.
UPDATE unified_queue SET next_run_at = NULL WHERE rowid IN (
  SELECT rowid FROM unified_queue INDEXED BY queue_due
  WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now ORDER BY next_run_at LIMIT 1000)
