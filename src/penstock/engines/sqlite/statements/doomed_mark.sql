-- doomed_mark (sqlite): nobody claims what waits for a collection that is gone. A tenant the catalogue has not met is a
-- local one; a tenant's deletion is about no collection. Index: idx_unified_queue_collection_tenant.
UPDATE unified_queue SET paused = 2
WHERE collection = :name AND status = 'pending' AND item_type <> 'delete_tenant'
  AND coalesce((SELECT workspace_id FROM tenants t WHERE t.tenant_id = unified_queue.tenant_id), :local) = :workspace
