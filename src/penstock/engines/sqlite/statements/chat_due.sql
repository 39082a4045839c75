-- chat_due (sqlite): is an answer left by its owner? Index: messages_due.
SELECT EXISTS (SELECT 1 FROM messages INDEXED BY messages_due WHERE status IN ('pending', 'running') AND due_at <= ?)
