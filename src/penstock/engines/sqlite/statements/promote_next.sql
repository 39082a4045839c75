-- promote_next (sqlite): when the next one is due. Index: queue_due, first entry.
SELECT next_run_at FROM unified_queue INDEXED BY queue_due
WHERE status = 'pending' AND next_run_at IS NOT NULL ORDER BY next_run_at LIMIT 1
