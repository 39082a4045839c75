-- settle_verdict (sqlite): write what became of an attempt; the token moves on, so the attempt can write nothing more.
UPDATE unified_queue SET status = :status, lease_until = NULL, worker_id = NULL, updated_at = :now,
  finished_at = :finished, keyed = keyed AND :finished IS NULL,
  next_run_at = :due, retry_count = :retry_count, crashes = :crashes,
  parked_since = :parked, token = token + 1, cancel_code = NULL,
  error_code = coalesce(:code, error_code), error_message = coalesce(:message, error_message),
  last_error_at = coalesce(:error_at, last_error_at),
  error_trace = CASE WHEN :code IS NULL THEN error_trace ELSE :trace END
WHERE queue_id = :id AND status = 'in_progress'
