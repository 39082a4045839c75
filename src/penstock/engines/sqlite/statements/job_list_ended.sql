-- job_list_ended (sqlite): row numbers of one tenant's jobs with one last status, newest first. Index: queue_ended, one
-- range from its end: neither other tenants' rows nor other states are met.
SELECT rowid FROM unified_queue INDEXED BY queue_ended
WHERE tenant_id = :tenant AND status = :status AND finished_at IS NOT NULL AND rowid < :before
  AND (:item_type IS NULL OR item_type = :item_type)
  AND (:collection IS NULL OR collection = :collection)
  AND (:error_code IS NULL OR error_code = :error_code)
ORDER BY rowid DESC LIMIT :limit
