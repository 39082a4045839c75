-- chat_take (sqlite): begin to write a pending answer.
UPDATE messages SET status = 'running', owner = :owner, due_at = :due, updated_at = :now
WHERE message_id = :message AND status = 'pending' AND role = 'ai' AND (owner IS NULL OR owner = :owner)
RETURNING conversation_id, reply_to
