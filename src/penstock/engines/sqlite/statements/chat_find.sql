-- chat_find (sqlite): a message of a workspace by id, as long as the workspace is there.
SELECT m.message_id, m.conversation_id, m.number, m.role, m.status, m.content, m.citations_json, m.usage_json, m.metadata_json,
  m.error_code, m.error_message, m.reply_to, m.created_at, m.updated_at
FROM messages m
  CROSS JOIN conversations c ON c.conversation_id = m.conversation_id
  CROSS JOIN workspaces w ON w.workspace_id = c.workspace_id
WHERE m.message_id = :message AND c.workspace_id = :workspace AND w.removed_at IS NULL
