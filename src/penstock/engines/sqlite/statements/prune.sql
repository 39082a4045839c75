-- prune (sqlite): remove ended jobs past their time. Index: idx_unified_queue_dequeue (status, priority, created_at):
-- what was created after the limit cannot have ended before it.
DELETE FROM unified_queue WHERE rowid IN (
  SELECT rowid FROM unified_queue INDEXED BY idx_unified_queue_dequeue
  WHERE status = :status AND priority = :priority AND created_at < :before
    AND julianday(updated_at) < julianday(:before) LIMIT :limit)
RETURNING queue_id
