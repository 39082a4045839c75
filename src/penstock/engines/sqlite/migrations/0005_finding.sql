-- What finding files needs to remember, and what is owed when a job ends.

-- How the file looked when its bytes of now were taken, and the folder, project or library it was found in.
ALTER TABLE documents ADD COLUMN mark TEXT;
ALTER TABLE documents ADD COLUMN root TEXT;

CREATE TABLE reports (                       -- what a look at a folder found
  queue_id TEXT PRIMARY KEY NOT NULL,
  report_json TEXT NOT NULL,
  created_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TRIGGER report_forgotten AFTER DELETE ON unified_queue
WHEN OLD.item_type IN ('folder', 'project', 'library')
BEGIN
  DELETE FROM reports WHERE queue_id = OLD.queue_id;
END;

-- A file of a collection's own incoming folder is moved once its job has ended, however it ended.
CREATE TRIGGER queue_owes_move AFTER UPDATE OF status ON unified_queue
WHEN NEW.status IN ('done', 'failed') AND OLD.status NOT IN ('done', 'failed') AND NEW.item_type = 'file'
  AND NEW.metadata <> '{}' AND json_valid(NEW.metadata) AND json_extract(NEW.metadata, '$.origin') = 'incoming'
BEGIN
  INSERT INTO debts (kind, about, due_at, created_at) VALUES ('move', NEW.queue_id, NEW.updated_at, NEW.updated_at)
  ON CONFLICT (kind, about) DO NOTHING;
END;

-- Bytes that may no longer be needed: whoever pays the debt looks again before they go.
CREATE TRIGGER version_owes_blob AFTER DELETE ON versions
BEGIN
  INSERT INTO debts (kind, about, due_at, created_at)
  VALUES ('free_blob', OLD.blob, strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'), strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))
  ON CONFLICT (kind, about) DO NOTHING;
END;
CREATE TRIGGER parse_owes_blob AFTER DELETE ON parses
BEGIN
  INSERT INTO debts (kind, about, due_at, created_at)
  VALUES ('free_blob', OLD.result, strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'), strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))
  ON CONFLICT (kind, about) DO NOTHING;
END;
