-- claim_lane_packed (sqlite): the rows of claim_lane as one JSON text, so that they come in one step of the driver.
-- The inner rows keep their order, because a subquery with a LIMIT is read as it stands. Index: queue_ready, one range.
SELECT json_group_array(json_array(rowid, queue_id, token, item_type, op, tenant_id, collection, priority, payload_json,
  retry_count, crashes, branch, metadata, document_id, delete_first, created_at, rank))
FROM (SELECT rowid, queue_id, token, item_type, op, tenant_id, collection, priority, payload_json, retry_count, crashes,
    branch, metadata, document_id, delete_first, created_at, rank
  FROM unified_queue INDEXED BY queue_ready
  WHERE ready = 1 AND rank = :rank AND tenant_id = :tenant AND (created_at, rowid) > (:created, :row)
  ORDER BY created_at, rowid LIMIT :limit)
