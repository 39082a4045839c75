-- The title a conversation was opened with goes out of the log with it too; 0022 knows only those given later.
CREATE INDEX events_conversation_created ON events (json_extract(payload_json, '$.conversation.id'))
WHERE type = 'conversation.created';
CREATE TRIGGER conversation_untold AFTER DELETE ON conversations
BEGIN
  UPDATE events SET payload_json = json_replace(payload_json, '$.conversation.title', '')
  WHERE type = 'conversation.created' AND json_extract(payload_json, '$.conversation.id') = OLD.conversation_id;
END;
