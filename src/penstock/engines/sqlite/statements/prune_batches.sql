-- prune_batches (sqlite): batches that ended long ago, and old ones nobody will seal: their parent has ended or is gone.
-- A small table; primary key of each parent.
DELETE FROM queue_batches WHERE ended_at < :before OR (sealed = 0 AND created_at < :before AND parent IS NOT NULL
  AND NOT EXISTS (SELECT 1 FROM unified_queue q WHERE q.queue_id = queue_batches.parent AND q.finished_at IS NULL))
