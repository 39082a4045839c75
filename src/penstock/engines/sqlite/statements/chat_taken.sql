-- chat_taken (sqlite): is there a message of this id, whoever's?
SELECT EXISTS (SELECT 1 FROM messages WHERE message_id = ?)
