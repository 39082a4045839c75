-- chat_take (sqlite): begin to write a pending answer of a workspace that is there. Primary keys.
UPDATE messages SET status = 'running', owner = :owner, due_at = :due, updated_at = :now
WHERE message_id = :message AND status = 'pending' AND role = 'ai' AND (owner IS NULL OR owner = :owner)
  AND EXISTS (SELECT 1 FROM conversations c
  CROSS JOIN workspaces w ON w.workspace_id = c.workspace_id
  WHERE c.conversation_id = messages.conversation_id AND w.removed_at IS NULL)
RETURNING conversation_id, reply_to
