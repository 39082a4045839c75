-- tenant_list (sqlite): the tenants of a workspace. Index: tenants_workspace.
SELECT tenant_id FROM tenants WHERE workspace_id = ?
