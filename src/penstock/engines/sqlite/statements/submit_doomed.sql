-- submit_doomed (sqlite): end a waiting job that came before a tenant deletion, or whose collection was deleted; a later
-- intent must not join it.
UPDATE unified_queue SET status = 'failed', finished_at = :now, updated_at = :now, behind = NULL, next_run_at = NULL,
  error_code = CASE paused WHEN 2 THEN 'ERR_COLLECTION_UNKNOWN' ELSE 'ERR_SUPERSEDED' END,
  error_message = CASE paused WHEN 2 THEN 'the collection was deleted' ELSE 'the tenant is being deleted' END,
  paused = 0, keyed = 0, last_error_at = :now
WHERE queue_id = :id AND (paused = 2 OR EXISTS (SELECT 1 FROM queue_barriers b
  WHERE b.tenant_id = unified_queue.tenant_id AND b.queue_id <> :id AND unified_queue.generation < b.generation))
