-- submit_since (sqlite): jobs inserted after that row. The table's own b-tree, its end.
SELECT queue_id FROM unified_queue WHERE rowid > ?
