-- job_counts (sqlite): how many are in which state. Indexes: idx_unified_queue_dequeue and the partial ones.
SELECT
  (SELECT count(*) FROM unified_queue WHERE ready = 1),
  (SELECT count(*) FROM unified_queue WHERE status = 'pending' AND next_run_at IS NOT NULL AND behind IS NULL AND paused = 0),
  (SELECT count(*) FROM unified_queue WHERE behind IS NOT NULL AND paused = 0),
  (SELECT count(*) FROM unified_queue WHERE paused = 1),
  (SELECT count(*) FROM unified_queue WHERE ready = 2),
  (SELECT count(*) FROM unified_queue WHERE status = 'in_progress'),
  (SELECT count(*) FROM unified_queue WHERE status = 'done'),
  (SELECT count(*) FROM unified_queue WHERE status = 'failed')
