-- prune_beside (sqlite): is there anything for prune_batches, mend_lines, mend_barriers, mend_keys or workers_forget? They
-- ask the same, row by row. Index: queue_behind, then primary keys; four small tables.
SELECT EXISTS (SELECT 1 FROM queue_batches b
    WHERE b.ended_at < :before OR (b.sealed = 0 AND b.created_at < :before AND b.parent IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM unified_queue q WHERE q.queue_id = b.parent AND q.finished_at IS NULL)))
  OR EXISTS (SELECT 1 FROM unified_queue q INDEXED BY queue_behind WHERE q.behind IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM unified_queue other
    WHERE other.queue_id = q.behind AND other.finished_at IS NULL AND other.rowid <> q.rowid))
  OR EXISTS (SELECT 1 FROM queue_barriers b WHERE NOT EXISTS (
    SELECT 1 FROM unified_queue q WHERE q.queue_id = b.queue_id AND q.finished_at IS NULL
      AND q.item_type = 'delete_tenant' AND q.tenant_id = b.tenant_id))
  OR EXISTS (SELECT 1 FROM queue_workers w WHERE w.beat_at < :silent AND NOT EXISTS (
    SELECT 1 FROM unified_queue q WHERE q.worker_id = w.worker_id AND q.status = 'in_progress'))
  OR EXISTS (SELECT 1 FROM queue_lent)
