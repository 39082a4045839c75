-- prune_find (sqlite): row numbers of ended jobs of one status and priority past their time. Read beside the writer, for it
-- may walk far: past all that ended late though created early. Index: idx_unified_queue_dequeue (status, priority,
-- created_at): what was created after the limit cannot have ended before it. One on the time of the end would be written
-- by every settle.
SELECT rowid FROM unified_queue INDEXED BY idx_unified_queue_dequeue
WHERE status = :status AND priority = :priority AND created_at < :before
  AND julianday(updated_at) < julianday(:before) LIMIT :limit
