-- ledger_rows (sqlite): the entries an engine handed out, in the columns of a claim; primary key of each. Those of a
-- removed collection that wait for their end (paused = 2) are as good as over.
SELECT q.rowid, q.queue_id, q.token, q.item_type, q.op, q.tenant_id, q.collection, q.priority, q.payload_json,
  q.retry_count, q.crashes, q.branch, q.metadata, q.document_id, q.delete_first, q.created_at, q.rank,
  q.finished_at IS NOT NULL OR q.paused = 2, q.status = 'pending' AND q.behind IS NOT NULL, q.status = 'in_progress'
FROM json_each(?) wanted CROSS JOIN unified_queue q ON q.queue_id = wanted.value
