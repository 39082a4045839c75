-- ledger_counts (sqlite): an attempt was lost and nobody booked it: the engine has counted.
UPDATE unified_queue SET retry_count = ?, crashes = ? WHERE rowid = ? AND status = 'in_progress'
