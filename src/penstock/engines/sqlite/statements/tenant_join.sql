-- tenant_join (sqlite): a tenant joins a workspace.
INSERT INTO tenants (tenant_id, workspace_id, created_at) VALUES (?, ?, ?)
