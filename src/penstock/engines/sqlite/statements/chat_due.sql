-- chat_due (sqlite): answers left by their owners, and what is written of them so far. Index: messages_due.
SELECT message_id, content FROM messages INDEXED BY messages_due
WHERE status IN ('pending', 'running') AND due_at <= ? ORDER BY due_at LIMIT ?
