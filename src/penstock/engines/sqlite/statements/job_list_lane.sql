-- job_list_lane (sqlite): row numbers of one type's jobs with one status, newest first. Index: idx_unified_queue_item_type,
-- one range from its end: rows of other types and states are not met.
SELECT rowid FROM unified_queue INDEXED BY idx_unified_queue_item_type
WHERE item_type = :item_type AND status = :status AND rowid < :before
  AND (:ready IS NULL OR next_run_at IS NULL)
  AND (:collection IS NULL OR collection = :collection)
  AND (:error_code IS NULL OR error_code = :error_code)
ORDER BY rowid DESC LIMIT :limit
