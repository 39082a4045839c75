-- conversation_remove_some (sqlite): some conversations of a workspace; their messages go with them. Which ones. Index:
-- conversations_latest.
DELETE FROM conversations WHERE conversation_id IN (
  SELECT conversation_id FROM conversations WHERE workspace_id = ? ORDER BY updated_at LIMIT ?)
RETURNING conversation_id
