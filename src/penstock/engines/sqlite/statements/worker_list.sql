-- worker_list (sqlite): workers and what they hold. Index: idx_unified_queue_worker.
SELECT w.worker_id, w.pid, w.host, w.concurrency, w.started_at, w.beat_at,
  (SELECT count(*) FROM unified_queue q WHERE q.worker_id = w.worker_id AND q.status = 'in_progress')
FROM queue_workers w ORDER BY w.started_at, w.worker_id
