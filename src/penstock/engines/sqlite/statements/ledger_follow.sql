-- ledger_follow (sqlite): what the engine decided about a job nobody runs any more; an ended entry stays as it is,
-- and so does one that was begun again since.
UPDATE unified_queue SET status = :status, updated_at = :now, lease_until = NULL, worker_id = NULL, token = token + 1,
  finished_at = :finished, keyed = keyed AND :finished IS NULL,
  retry_count = :retry_count, crashes = :crashes, next_run_at = :due,
  error_code = coalesce(:code, error_code), error_message = coalesce(:message, error_message),
  last_error_at = CASE WHEN :code IS NULL THEN last_error_at ELSE :now END
WHERE queue_id = coalesce((SELECT queue_id FROM queue_aliases WHERE alias = :id), :id) AND status = 'in_progress' AND started_at <= :decided
