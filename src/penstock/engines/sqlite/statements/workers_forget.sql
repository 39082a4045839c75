-- workers_forget (sqlite): workers long dead are no longer shown; one that still holds a job is, for whoever takes the job
-- back must know that it died. Indexes: none, a small table; idx_unified_queue_worker.
DELETE FROM queue_workers WHERE beat_at < :silent AND NOT EXISTS (
  SELECT 1 FROM unified_queue q WHERE q.worker_id = queue_workers.worker_id AND q.status = 'in_progress')
