-- audit_job_astray (sqlite): waiting jobs for a collection their workspace has not, nor will have by the configuration. A
-- tenant the catalogue has not met is a local one; a tenant's deletion is about no collection, and jobs of a collection
-- that was deleted are on their way out. Where there is no collection at all the queue is used without the catalogue.
SELECT q.queue_id, q.collection FROM unified_queue q
WHERE q.finished_at IS NULL AND q.status = 'pending' AND q.item_type <> 'delete_tenant' AND q.paused <> 2
  AND EXISTS (SELECT 1 FROM collections WHERE removed_at IS NULL)
  AND q.collection NOT IN (SELECT value FROM json_each(:declared))
  AND NOT EXISTS (SELECT 1 FROM collections c WHERE c.name = q.collection AND c.removed_at IS NULL
    AND c.workspace_id = coalesce((SELECT t.workspace_id FROM tenants t WHERE t.tenant_id = q.tenant_id), :local))
LIMIT :limit
