-- claim_row (sqlite): one claimable row, by its place.
SELECT rowid, queue_id, token, item_type, op, tenant_id, collection, priority, payload_json, retry_count, crashes, branch,
  metadata, document_id, delete_first, created_at, rank
FROM unified_queue WHERE rowid = ?
