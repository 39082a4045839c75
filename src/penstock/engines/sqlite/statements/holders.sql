-- holders (sqlite): workers that hold jobs. Index: idx_unified_queue_worker.
SELECT DISTINCT worker_id FROM unified_queue WHERE status = 'in_progress' AND worker_id IS NOT NULL
