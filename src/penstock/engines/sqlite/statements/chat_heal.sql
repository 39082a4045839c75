-- chat_heal (sqlite): answers left by their owners end; what was written so far stays. Index: messages_due.
UPDATE messages SET status = 'error', owner = NULL, due_at = '', stopping = 0, updated_at = :now,
  error_code = CASE WHEN stopping THEN :stopped_code ELSE :code END,
  error_message = CASE WHEN stopping THEN :stopped ELSE :error END
WHERE message_id IN (SELECT message_id FROM messages INDEXED BY messages_due
  WHERE status IN ('pending', 'running') AND due_at <= :now ORDER BY due_at LIMIT :limit)
RETURNING message_id
