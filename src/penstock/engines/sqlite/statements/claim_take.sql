-- claim_take (sqlite): lease one chosen row to a worker. The single writer excludes others; PostgreSQL chooses with
-- FOR UPDATE SKIP LOCKED. The rowid is good here: choice and lease share one transaction.
UPDATE unified_queue SET status = 'in_progress', lease_until = ?, worker_id = ?, updated_at = ?, started_at = ?,
  token = token + 1, progress_done = NULL, progress_total = NULL
WHERE rowid = ?
