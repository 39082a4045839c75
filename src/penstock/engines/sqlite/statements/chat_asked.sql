-- chat_asked (sqlite): the question a conversation was asked under a key. Index: messages_key.
SELECT message_id FROM messages WHERE conversation_id = :conversation AND key = :key
