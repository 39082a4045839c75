-- job_counts (sqlite): how many are in which state. Indexes: idx_unified_queue_dequeue and the partial ones.
SELECT
  (SELECT count(*) FROM unified_queue INDEXED BY queue_oldest WHERE ready = 1),
  (SELECT count(*) FROM unified_queue INDEXED BY queue_due WHERE status = 'pending' AND next_run_at IS NOT NULL AND behind IS NULL AND paused = 0),
  (SELECT count(*) FROM unified_queue INDEXED BY queue_behind WHERE behind IS NOT NULL AND paused = 0)
    + (SELECT count(*) FROM unified_queue INDEXED BY queue_doomed WHERE paused = 2),
  (SELECT count(*) FROM unified_queue INDEXED BY queue_paused WHERE paused = 1),
  (SELECT count(*) FROM unified_queue INDEXED BY queue_suspects WHERE ready = 2),
  (SELECT count(*) FROM unified_queue INDEXED BY idx_unified_queue_dequeue WHERE status = 'in_progress'),
  (SELECT count(*) FROM unified_queue INDEXED BY idx_unified_queue_dequeue WHERE status = 'done'),
  (SELECT count(*) FROM unified_queue INDEXED BY idx_unified_queue_dequeue WHERE status = 'failed')
