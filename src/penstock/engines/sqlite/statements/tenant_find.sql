-- tenant_find (sqlite): the workspace a tenant belongs to.
SELECT workspace_id FROM tenants WHERE tenant_id = ?
