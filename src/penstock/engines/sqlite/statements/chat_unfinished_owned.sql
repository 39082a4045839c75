-- chat_unfinished_owned (sqlite): how many answers are on their way to the owner of a workspace, in all he has. Index:
-- messages_due, which is small.
SELECT count(*)
FROM messages m INDEXED BY messages_due
  CROSS JOIN conversations c ON c.conversation_id = m.conversation_id
  CROSS JOIN workspaces w ON w.workspace_id = c.workspace_id
WHERE m.status IN ('pending', 'running') AND m.due_at >= ''
  AND w.owner = (SELECT owner FROM workspaces WHERE workspace_id = ?)
