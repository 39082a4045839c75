-- claim_lane (sqlite): a tenant's next ready jobs at a rank, first in first. Index: queue_ready, one range.
SELECT rowid, queue_id, token, item_type, op, tenant_id, collection, priority, payload_json, retry_count, crashes, branch,
  metadata, document_id, delete_first, created_at, rank
FROM unified_queue INDEXED BY queue_ready
WHERE ready = 1 AND rank = :rank AND tenant_id = :tenant AND (created_at, rowid) > (:created, :row)
ORDER BY created_at, rowid LIMIT :limit
