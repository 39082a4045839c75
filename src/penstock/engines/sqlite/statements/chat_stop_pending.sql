-- chat_stop_pending (sqlite): an answer nobody has begun to write ends at once.
UPDATE messages SET status = 'error', error_code = :code, error_message = :error, owner = NULL, due_at = '', updated_at = :now
WHERE message_id = :message AND status = 'pending'
