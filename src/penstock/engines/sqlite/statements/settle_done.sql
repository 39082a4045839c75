-- settle_done (sqlite): attempts that succeeded, where the token is still their own; which ones.
-- :ends is [[job id, token], ...]. One statement for all: SQLite copies each page once a statement, not once a row.
UPDATE unified_queue SET status = 'done', lease_until = NULL, worker_id = NULL, updated_at = :now, finished_at = :now,
  parked_since = NULL, cancel_code = NULL
WHERE rowid IN (SELECT q.rowid FROM json_each(:ends) ends
  CROSS JOIN unified_queue q ON q.queue_id = json_extract(ends.value, '$[0]')
    AND q.token = json_extract(ends.value, '$[1]') AND q.status = 'in_progress')
RETURNING queue_id, token
