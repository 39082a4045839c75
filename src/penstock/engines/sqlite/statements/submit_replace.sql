-- submit_replace (sqlite): a waiting job takes over a later intent; the higher priority stays, retries start anew.
UPDATE unified_queue SET op = :op, payload_json = :payload, priority = max(priority, :priority), updated_at = :now,
  next_run_at = :due, max_retries = :max_retries, branch = :branch, metadata = :metadata, retry_count = 0,
  parked_since = NULL, delete_first = :delete_first
WHERE queue_id = :id
