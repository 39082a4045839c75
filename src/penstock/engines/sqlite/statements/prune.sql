-- prune (sqlite): remove jobs that were found past their time, if they still are. The table's own b-tree, one seek each.
DELETE FROM unified_queue WHERE rowid IN (SELECT value FROM json_each(:rows))
  AND status = :status AND julianday(updated_at) < julianday(:before)
RETURNING queue_id
