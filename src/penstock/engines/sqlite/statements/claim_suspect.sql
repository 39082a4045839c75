-- claim_suspect (sqlite): jobs that run alone, oldest first. Index: queue_suspects, read as far as the first that may run;
-- each of them has killed two workers, so they are few.
SELECT rowid, queue_id, token, item_type, op, tenant_id, collection, priority, payload_json, retry_count, crashes, branch,
  metadata, document_id, delete_first, created_at, rank
FROM unified_queue INDEXED BY queue_suspects WHERE ready = 2 ORDER BY created_at, rowid
