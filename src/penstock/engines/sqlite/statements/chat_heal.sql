-- chat_heal (sqlite): an answer left by its owner ends with what stays of its words; its owner may be back. Index: the
-- primary key.
UPDATE messages SET status = 'error', owner = NULL, due_at = '', stopping = 0, updated_at = :now, content = :content,
  error_code = CASE WHEN stopping THEN :stopped_code ELSE :code END,
  error_message = CASE WHEN stopping THEN :stopped ELSE :error END
WHERE message_id = :message AND status IN ('pending', 'running') AND due_at <= :now
RETURNING message_id
