-- settle_find (sqlite): what decides how an attempt ends; bytes somebody wrote as a reason are text.
SELECT retry_count, max_retries, crashes, parked_since, CAST(cancel_code AS TEXT), idempotency_key, tenant_id, op,
  delete_first, started_at, token, worker_id
FROM unified_queue WHERE queue_id = :id AND status = 'in_progress'
