-- Workspaces of many users: found by their owner, and gone for everybody once removed.
ALTER TABLE workspaces ADD COLUMN removed_at TEXT;
CREATE INDEX workspaces_owner ON workspaces (owner, workspace_id) WHERE removed_at IS NULL;
