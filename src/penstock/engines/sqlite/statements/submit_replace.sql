-- submit_replace (sqlite): a waiting job takes over a later intent; the higher priority stays, retries start anew. A
-- document it did not know of is its document from now on; submit_move then changes its place.
UPDATE unified_queue SET op = :op, payload_json = :payload, priority = max(priority, :priority), updated_at = :now,
  next_run_at = :due, max_retries = :max_retries, branch = :branch, metadata = :metadata, retry_count = 0,
  parked_since = NULL, delete_first = :delete_first, document_id = coalesce(:document_id, document_id)
WHERE queue_id = :id
