-- conversation_list (sqlite): those with the latest news first, behind a bookmark. Index: conversations_latest.
SELECT conversation_id, workspace_id, title, scope_json, messages, created_at, updated_at
FROM conversations WHERE workspace_id = :workspace AND (updated_at, conversation_id) < (:updated, :id)
ORDER BY updated_at DESC, conversation_id DESC LIMIT :limit
