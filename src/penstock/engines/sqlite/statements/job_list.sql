-- job_list (sqlite): row numbers of jobs whatever their type and state, newest first. The table's own b-tree, from its end.
SELECT rowid FROM unified_queue
WHERE rowid < :before
  AND (:collection IS NULL OR collection = :collection)
  AND (:error_code IS NULL OR error_code = :error_code)
ORDER BY rowid DESC LIMIT :limit
