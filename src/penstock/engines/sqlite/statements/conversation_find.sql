-- conversation_find (sqlite): a workspace's conversation by id.
SELECT conversation_id, workspace_id, title, scope_json, messages, created_at, updated_at
FROM conversations WHERE conversation_id = :conversation AND workspace_id = :workspace
