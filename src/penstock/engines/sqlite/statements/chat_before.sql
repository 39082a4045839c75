-- chat_before (sqlite): a conversation's messages before a number, the last ones first. Index: messages_number.
SELECT m.message_id, m.conversation_id, m.number, m.role, m.status, m.content, m.citations_json, m.usage_json, m.metadata_json,
  m.error_code, m.error_message, m.reply_to, m.created_at, m.updated_at
FROM conversations c
  CROSS JOIN workspaces w ON w.workspace_id = c.workspace_id
  CROSS JOIN messages m ON m.conversation_id = c.conversation_id
WHERE c.conversation_id = :conversation AND c.workspace_id = :workspace AND w.removed_at IS NULL
  AND m.number < :before
ORDER BY m.number DESC LIMIT :limit
