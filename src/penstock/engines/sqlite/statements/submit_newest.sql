-- submit_newest (sqlite): the newest row there is. The table's own b-tree, last entry.
SELECT coalesce(max(rowid), 0) FROM unified_queue
