-- Events that say all there is to show, and no longer what was removed.
--
-- A new document is told as lists show it; a rename or a move to another collection tells where it is now. With a
-- conversation its words go out of the log too: the numbers stay, so that nobody misses one.
DROP TRIGGER document_created;
CREATE TRIGGER document_created AFTER INSERT ON documents
BEGIN
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  SELECT NEW.workspace_id, NEW.created_at, 'document.created', json_object('workspace_id', NEW.workspace_id,
    'document', json_object('id', NEW.document_id, 'workspace_id', NEW.workspace_id, 'collection', c.name,
      'name', NEW.name, 'title', NEW.title, 'source', NEW.source, 'status', NEW.state, 'media', NEW.media,
      'size', nullif(NEW.bytes, 0), 'pages', NEW.pages, 'chunks', 0,
      'metadata', json(CASE WHEN json_valid(NEW.metadata_json) THEN NEW.metadata_json ELSE '{}' END), 'error', NULL,
      'created_at', NEW.created_at, 'updated_at', NEW.updated_at))
  FROM collections c WHERE c.collection_id = NEW.collection_id;
END;

DROP TRIGGER document_renamed;
CREATE TRIGGER document_renamed AFTER UPDATE OF identity, name, collection_id ON documents
WHEN (NEW.identity <> OLD.identity OR NEW.name <> OLD.name OR NEW.collection_id <> OLD.collection_id)
  AND NEW.hidden_at IS NULL
BEGIN
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  SELECT NEW.workspace_id, NEW.updated_at, 'document.moved', json_object('workspace_id', NEW.workspace_id,
    'document_id', NEW.document_id, 'name', NEW.name, 'collection', c.name, 'status', NEW.state)
  FROM collections c WHERE c.collection_id = NEW.collection_id;
  UPDATE collections SET revision = revision + 1 WHERE collection_id IN (NEW.collection_id, OLD.collection_id);
END;

CREATE INDEX events_conversation ON events (json_extract(payload_json, '$.conversation_id'))
WHERE type IN ('message.created', 'message.status_updated');
DROP TRIGGER conversation_removed;
CREATE TRIGGER conversation_removed AFTER DELETE ON conversations
BEGIN
  DELETE FROM messages WHERE conversation_id = OLD.conversation_id;
  UPDATE events SET payload_json = json_replace(payload_json,
    '$.message.content', '', '$.message.citations', json('[]'), '$.message.metadata', json('{}'),
    '$.content', '', '$.citations', json('[]'), '$.metadata', json('{}'))
  WHERE type IN ('message.created', 'message.status_updated')
    AND json_extract(payload_json, '$.conversation_id') = OLD.conversation_id;
END;
