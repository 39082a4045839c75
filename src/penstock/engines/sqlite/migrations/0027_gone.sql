-- Whether a user has removed a workspace is known at once: of what happened there, its words are no longer told.
CREATE INDEX workspaces_gone ON workspaces (owner, workspace_id) WHERE removed_at IS NOT NULL;
