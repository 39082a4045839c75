-- ledger_unfinished (sqlite): where the entries stand that have not ended, in the order of their submits. Index:
-- queue_unfinished, which holds no others; row numbers alone are read and sorted.
SELECT rowid FROM unified_queue INDEXED BY queue_unfinished WHERE finished_at IS NULL ORDER BY rowid
