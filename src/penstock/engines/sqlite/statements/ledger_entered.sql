-- ledger_entered (sqlite): those of some entries that have not ended, as they were named. Primary key of each.
SELECT q.queue_id, q.item_type, q.op, q.tenant_id, q.collection, q.priority, q.payload_json, q.max_retries, q.branch,
  q.metadata, q.document_id, q.next_run_at, q.replay_of, q.delete_first
FROM json_each(?) wanted CROSS JOIN unified_queue q ON q.queue_id = wanted.value
WHERE q.finished_at IS NULL ORDER BY wanted.key
