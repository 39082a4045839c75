-- chat_add (sqlite): a message; triggers tell the owner of its workspace and count it.
INSERT INTO messages (message_id, conversation_id, number, key, role, status, content, reply_to, owner, due_at, created_at,
  updated_at)
VALUES (:id, :conversation, :number, :key, :role, :status, :content, :reply_to, :owner, :due, :now, :now)
