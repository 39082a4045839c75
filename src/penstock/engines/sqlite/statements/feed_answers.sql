-- feed_answers (sqlite): answers of these users that have not ended, with what they say so far. Index: messages_due,
-- which holds nothing but unfinished answers.
SELECT w.owner, c.workspace_id, m.conversation_id, m.message_id, m.status, m.content
FROM messages m INDEXED BY messages_due
  CROSS JOIN conversations c ON c.conversation_id = m.conversation_id
  CROSS JOIN workspaces w ON w.workspace_id = c.workspace_id
WHERE m.status IN ('pending', 'running') AND w.removed_at IS NULL AND w.owner IN (SELECT value FROM json_each(:users))
