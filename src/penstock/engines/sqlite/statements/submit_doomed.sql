-- submit_doomed (sqlite): end a waiting job that came before a tenant deletion; a later intent must not join it.
UPDATE unified_queue SET status = 'failed', finished_at = :now, updated_at = :now, behind = NULL, next_run_at = NULL,
  paused = 0, error_code = 'ERR_SUPERSEDED', last_error_at = :now, error_message = 'the tenant is being deleted'
WHERE queue_id = :id AND EXISTS (SELECT 1 FROM queue_barriers b
  WHERE b.tenant_id = unified_queue.tenant_id AND b.queue_id <> :id AND unified_queue.generation < b.generation)
