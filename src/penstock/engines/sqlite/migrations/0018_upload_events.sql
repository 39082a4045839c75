-- Uploads while they are sent: a file of a request, from its first byte until it is taken in or given up.
--
-- As elsewhere the table keeps the rules: a new upload and a new status are events of the workspace's owner. How far one
-- is, is no event. An upload without a word from whoever receives it is due to end.
CREATE TABLE uploads (
  upload_id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL,
  name TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'uploading' CHECK (status IN ('uploading', 'completed', 'failed')),
  done INTEGER NOT NULL DEFAULT 0,      -- bytes that have come
  total INTEGER,                        -- bytes its request had still to send when it began
  document_id TEXT,
  error_code TEXT,
  error_message TEXT,
  due_at TEXT NOT NULL DEFAULT '',      -- when nobody receives it any more
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX uploads_due ON uploads (due_at) WHERE status = 'uploading';
CREATE INDEX uploads_ended ON uploads (updated_at) WHERE status <> 'uploading';

CREATE TRIGGER upload_begun AFTER INSERT ON uploads
BEGIN
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  VALUES (NEW.workspace_id, NEW.created_at, 'upload.created', json_object('workspace_id', NEW.workspace_id,
    'upload', json_object('id', NEW.upload_id, 'name', NEW.name, 'status', NEW.status, 'done', NEW.done,
      'total', NEW.total, 'created_at', NEW.created_at)));
END;
CREATE TRIGGER upload_moved_on AFTER UPDATE OF status ON uploads
WHEN NEW.status <> OLD.status
BEGIN
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  VALUES (NEW.workspace_id, NEW.updated_at, 'upload.status_updated', json_object('workspace_id', NEW.workspace_id,
    'upload_id', NEW.upload_id, 'status', NEW.status, 'done', NEW.done, 'document_id', NEW.document_id,
    'error_code', NEW.error_code, 'error_message', NEW.error_message));
END;
