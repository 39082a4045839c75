-- mend_lines (sqlite): jobs that wait for one that is gone or has ended, as REPLACE leaves them, wait no longer.
UPDATE unified_queue SET behind = NULL WHERE rowid IN (
  SELECT q.rowid FROM unified_queue q INDEXED BY queue_behind WHERE q.behind IS NOT NULL AND NOT EXISTS (
    SELECT 1 FROM unified_queue other
    WHERE other.queue_id = q.behind AND other.finished_at IS NULL AND other.rowid <> q.rowid))
