-- submit_supersede (sqlite): a waiting job became a delete: end what else waits on its subject. Index: queue_unfinished.
UPDATE unified_queue SET status = 'failed', finished_at = :now, updated_at = :now, behind = NULL, next_run_at = NULL,
  paused = 0, keyed = 0, error_code = 'ERR_SUPERSEDED', last_error_at = :now,
  error_message = 'a later request on the same object took its place'
WHERE finished_at IS NULL AND status = 'pending' AND queue_id <> :id
  AND (tenant_id, subject) = (SELECT tenant_id, subject FROM unified_queue WHERE queue_id = :id)
