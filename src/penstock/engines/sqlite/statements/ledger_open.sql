-- ledger_open (sqlite): an entry waits for nothing more; it is about to be taken.
UPDATE unified_queue SET next_run_at = NULL, paused = 0
WHERE rowid IN (SELECT value FROM json_each(?)) AND (next_run_at IS NOT NULL OR paused <> 0)
