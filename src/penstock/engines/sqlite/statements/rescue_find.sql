-- rescue_find (sqlite): attempts whose worker is gone or silent, or whose lease ran out. Rows in progress only: few.
-- Times of workers we do not know were written by hand, in any ISO form: the caller reads what julianday() cannot.
SELECT q.queue_id, w.beat_at IS NOT NULL AND (w.beat_at < :dead_before OR gone.value IS NOT NULL),
  q.lease_until
FROM unified_queue q INDEXED BY idx_unified_queue_worker
  LEFT JOIN queue_workers w ON w.worker_id = q.worker_id
  LEFT JOIN json_each(:gone) gone ON gone.value = q.worker_id
WHERE q.status = 'in_progress' AND (gone.value IS NOT NULL OR (NOT :certain AND (w.beat_at < :dead_before
  OR q.lease_until IS NULL OR julianday(q.lease_until) IS NULL OR julianday(q.lease_until) < julianday(:now))))
ORDER BY q.rowid LIMIT 1000
