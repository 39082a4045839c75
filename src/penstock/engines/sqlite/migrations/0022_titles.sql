-- With a conversation its titles go out of the log too, as the words of its messages do: most are made of a question.
DROP INDEX events_conversation;
CREATE INDEX events_conversation ON events (json_extract(payload_json, '$.conversation_id'))
WHERE type IN ('message.created', 'message.status_updated', 'conversation.renamed');
DROP TRIGGER conversation_removed;
CREATE TRIGGER conversation_removed AFTER DELETE ON conversations
BEGIN
  DELETE FROM messages WHERE conversation_id = OLD.conversation_id;
  UPDATE events SET payload_json = json_replace(payload_json,
    '$.message.content', '', '$.message.citations', json('[]'), '$.message.metadata', json('{}'),
    '$.content', '', '$.citations', json('[]'), '$.metadata', json('{}'), '$.title', '')
  WHERE type IN ('message.created', 'message.status_updated', 'conversation.renamed')
    AND json_extract(payload_json, '$.conversation_id') = OLD.conversation_id;
END;
