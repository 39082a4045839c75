-- settle_find (sqlite): what decides how an attempt ends.
SELECT retry_count, max_retries, crashes, parked_since, cancel_code, idempotency_key, tenant_id, op, delete_first,
  started_at, token
FROM unified_queue WHERE queue_id = :id AND status = 'in_progress'
