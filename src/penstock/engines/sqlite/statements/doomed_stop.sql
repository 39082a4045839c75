-- doomed_stop (sqlite): what runs for a collection that is gone has ended; its attempt can write nothing more.
-- Index: idx_unified_queue_worker.
UPDATE unified_queue SET status = 'failed', finished_at = :now, updated_at = :now, lease_until = NULL, worker_id = NULL,
  token = token + 1, keyed = 0, cancel_code = NULL, parked_since = NULL, error_code = 'ERR_COLLECTION_UNKNOWN',
  error_message = 'the collection was deleted', last_error_at = :now
WHERE rowid IN (SELECT rowid FROM unified_queue INDEXED BY idx_unified_queue_worker WHERE status = 'in_progress'
    AND collection = :name AND item_type <> 'delete_tenant')
  AND coalesce((SELECT workspace_id FROM tenants t WHERE t.tenant_id = unified_queue.tenant_id), :local) = :workspace
