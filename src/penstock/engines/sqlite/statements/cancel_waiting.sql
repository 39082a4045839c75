-- cancel_waiting (sqlite): a waiting job ends at once.
UPDATE unified_queue SET status = 'failed', finished_at = :now, updated_at = :now, behind = NULL, next_run_at = NULL,
  paused = 0, keyed = 0, error_code = 'ERR_CANCELLED', error_message = 'cancelled', last_error_at = :now
WHERE queue_id = :id AND status = 'pending'
