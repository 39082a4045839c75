-- conversation_list (sqlite): those with the latest news first, behind a bookmark, as long as the workspace is there. Index:
-- conversations_latest.
SELECT conversation_id, workspace_id, title, scope_json, messages, created_at, updated_at
FROM conversations WHERE workspace_id = :workspace AND (updated_at, conversation_id) < (:updated, :id)
  AND EXISTS (SELECT 1 FROM workspaces w WHERE w.workspace_id = :workspace AND w.removed_at IS NULL)
ORDER BY updated_at DESC, conversation_id DESC LIMIT :limit
