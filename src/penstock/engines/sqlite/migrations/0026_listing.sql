-- A tenant's jobs are listed without meeting those of others: the ended ones by their last status; the unfinished ones
-- have queue_unfinished. Partial, so that a submit and a claim do not pay for it.
CREATE INDEX queue_ended ON unified_queue (tenant_id, status) WHERE finished_at IS NOT NULL;
CREATE INDEX tenants_workspace ON tenants (workspace_id);
