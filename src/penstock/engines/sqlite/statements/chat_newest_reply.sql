-- chat_newest_reply (sqlite): the newest answer to a question. Index: messages_reply.
SELECT m.message_id, m.conversation_id, m.number, m.role, m.status, m.content, m.citations_json, m.usage_json, m.metadata_json,
  m.error_code, m.error_message, m.reply_to, m.created_at, m.updated_at
FROM messages m WHERE m.reply_to = :question ORDER BY m.number DESC LIMIT 1
