-- job_list_due (sqlite): row numbers of jobs whose time has not come, newest first. Index: queue_due, sorted by row number;
-- as many entries as there are delayed jobs, however many others wait.
SELECT rowid FROM unified_queue INDEXED BY queue_due
WHERE status = 'pending' AND next_run_at IS NOT NULL AND rowid < :before
  AND (:item_type IS NULL OR item_type = :item_type)
  AND (:collection IS NULL OR collection = :collection)
  AND (:error_code IS NULL OR error_code = :error_code)
ORDER BY rowid DESC LIMIT :limit
