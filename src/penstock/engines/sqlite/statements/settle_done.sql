-- settle_done (sqlite): attempts that succeeded, by their rows: found and ended in one transaction.
-- One statement for all: SQLite copies each page once a statement, not once a row.
UPDATE unified_queue SET status = 'done', lease_until = NULL, worker_id = NULL, updated_at = :now, finished_at = :now,
  parked_since = NULL, cancel_code = NULL, keyed = 0
WHERE rowid IN (SELECT value FROM json_each(:rows))
