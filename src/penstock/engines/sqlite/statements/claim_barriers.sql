-- claim_barriers (sqlite): tenant deletions whose way is clear. Few rows; primary key of each, also after ANALYZE.
SELECT q.rowid, q.queue_id, q.token, q.item_type, q.op, q.tenant_id, q.collection, q.priority, q.payload_json, q.retry_count, q.crashes, q.branch, q.metadata, q.document_id, q.delete_first, q.created_at, q.rank
FROM queue_barriers b CROSS JOIN unified_queue q ON q.queue_id = b.queue_id
WHERE likelihood(b.cleared = 1, 0.000001) AND q.ready IN (1, 2)
