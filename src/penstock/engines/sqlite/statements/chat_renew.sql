-- chat_renew (sqlite): its owner still writes an answer; what it says so far is kept, and is no news. None
-- is written on in a workspace that is removed. Primary keys.
UPDATE messages SET due_at = :due, content = :content
WHERE message_id = :message AND owner = :owner AND status IN ('pending', 'running') AND EXISTS (SELECT 1 FROM conversations c
  CROSS JOIN workspaces w ON w.workspace_id = c.workspace_id
  WHERE c.conversation_id = messages.conversation_id AND w.removed_at IS NULL)
RETURNING stopping
