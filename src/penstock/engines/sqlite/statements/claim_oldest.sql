-- claim_oldest (sqlite): the longest-waiting ready jobs of all. Index: queue_oldest.
SELECT rowid, queue_id, token, item_type, op, tenant_id, collection, priority, payload_json, retry_count, crashes, branch,
  metadata, document_id, delete_first, created_at, rank
FROM unified_queue INDEXED BY queue_oldest
WHERE ready = 1 AND (created_at, rowid) > (:created, :row)
ORDER BY created_at, rowid LIMIT :limit
