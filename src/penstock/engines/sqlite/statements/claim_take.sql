-- claim_take (sqlite): lease the chosen rows of one item type to a worker. The single writer excludes others;
-- PostgreSQL chooses with FOR UPDATE SKIP LOCKED. Rowids are good here: choice and lease share one transaction.
UPDATE unified_queue SET status = 'in_progress', lease_until = :until, worker_id = :worker, updated_at = :now,
  started_at = :now, token = token + 1, progress_done = NULL, progress_total = NULL
WHERE rowid IN (SELECT value FROM json_each(:rows))
