-- settle_done (sqlite): an attempt succeeded, if the token is still its own.
UPDATE unified_queue SET status = 'done', lease_until = NULL, worker_id = NULL, updated_at = ?, finished_at = ?,
  parked_since = NULL, cancel_code = NULL
WHERE queue_id = ? AND token = ? AND status = 'in_progress'
