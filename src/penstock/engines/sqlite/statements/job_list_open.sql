-- job_list_open (sqlite): row numbers of one tenant's unfinished jobs, newest first. Index: queue_unfinished, sorted by row
-- number; as many entries as the tenant has unfinished jobs, however many others have.
SELECT rowid FROM unified_queue INDEXED BY queue_unfinished
WHERE tenant_id = :tenant AND finished_at IS NULL AND rowid < :before
  AND (:status IS NULL OR status = :status)
  AND (:delayed IS NULL OR (next_run_at IS NOT NULL) = :delayed)
  AND (:item_type IS NULL OR item_type = :item_type)
  AND (:collection IS NULL OR collection = :collection)
  AND (:error_code IS NULL OR error_code = :error_code)
ORDER BY rowid DESC LIMIT :limit
