-- submit_undo (sqlite): jobs inserted after that row were not, after all. The table's own b-tree, its end.
DELETE FROM unified_queue WHERE rowid > ?
