-- conversation_find (sqlite): a workspace's conversation by id, as long as the workspace is there.
SELECT c.conversation_id, c.workspace_id, c.title, c.scope_json, c.messages, c.created_at, c.updated_at
FROM conversations c CROSS JOIN workspaces w ON w.workspace_id = c.workspace_id
WHERE c.conversation_id = :conversation AND c.workspace_id = :workspace AND w.removed_at IS NULL
