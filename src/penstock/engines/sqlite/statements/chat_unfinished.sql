-- chat_unfinished (sqlite): how many answers of a conversation are on their way. Index: messages_due, which is small.
SELECT count(*) FROM messages INDEXED BY messages_due
WHERE status IN ('pending', 'running') AND due_at >= '' AND conversation_id = ?
