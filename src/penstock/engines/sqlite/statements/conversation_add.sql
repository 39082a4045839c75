-- conversation_add (sqlite): a conversation of a workspace that is there.
INSERT INTO conversations (conversation_id, workspace_id, title, scope_json, created_at, updated_at)
SELECT :id, workspace_id, :title, :scope, :now, :now FROM workspaces WHERE workspace_id = :workspace AND removed_at IS NULL
