-- ledger_unfinished (sqlite): entries that have not ended, by id. Primary key.
SELECT queue_id, item_type, op, tenant_id, collection, priority, payload_json, max_retries, branch, metadata,
  document_id, next_run_at, replay_of, delete_first
FROM unified_queue WHERE queue_id > ? AND finished_at IS NULL ORDER BY queue_id LIMIT ?
