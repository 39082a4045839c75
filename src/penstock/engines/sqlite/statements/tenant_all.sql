-- tenant_all (sqlite): every tenant and whose it is. Primary key.
SELECT tenant_id, workspace_id FROM tenants
