-- ledger_refuse (sqlite): a waiting entry nobody can read is over.
UPDATE unified_queue SET status = 'failed', updated_at = :now, finished_at = :now, next_run_at = NULL, paused = 0,
  error_code = :code, error_message = :message, last_error_at = :now, token = token + 1, keyed = 0
WHERE queue_id = :id AND status = 'pending'
