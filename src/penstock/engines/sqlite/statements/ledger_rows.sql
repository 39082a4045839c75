-- ledger_rows (sqlite): the entries an engine handed out, in the columns of a claim; primary keys of each. A submit that
-- joined another job is that job. Those of a removed collection that wait for their end (paused = 2) are as good as over.
SELECT q.rowid, q.queue_id, q.token, q.item_type, q.op, q.tenant_id, q.collection, q.priority, q.payload_json,
  q.retry_count, q.crashes, q.branch, q.metadata, q.document_id, q.delete_first, q.created_at, q.rank,
  wanted.value, CASE WHEN q.paused = 2 THEN 'failed' ELSE q.status END,
  CASE WHEN q.paused = 2 THEN 'ERR_COLLECTION_UNKNOWN' ELSE q.error_code END,
  CASE WHEN q.paused = 2 THEN 'the collection was deleted' ELSE q.error_message END, q.behind
FROM json_each(?) wanted CROSS JOIN unified_queue q
  ON q.queue_id = coalesce((SELECT a.queue_id FROM queue_aliases a WHERE a.alias = wanted.value), wanted.value)
