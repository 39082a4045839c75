-- Documents known by their bytes: uploads.
--
-- A document of source 'upload' is itself what its bytes are needed for: its identity names them. A check cannot be
-- changed in place, so the column is made anew; the view over it is made anew with it.
DROP VIEW document_facts;
ALTER TABLE documents RENAME COLUMN source TO source_before;
ALTER TABLE documents ADD COLUMN source TEXT NOT NULL DEFAULT 'file'
  CHECK (source IN ('file', 'content', 'library', 'upload'));
UPDATE documents SET source = source_before WHERE source_before <> 'file';
ALTER TABLE documents DROP COLUMN source_before;
-- How large the bytes are that it was last begun with, or that were sent; 0 is not known yet.
ALTER TABLE documents ADD COLUMN bytes INTEGER NOT NULL DEFAULT 0;
UPDATE documents SET bytes = coalesce((SELECT v.size FROM versions v WHERE v.document = documents.number
  ORDER BY v.version_id DESC LIMIT 1), 0);
CREATE TRIGGER version_begun AFTER INSERT ON versions
BEGIN
  UPDATE documents SET bytes = NEW.size WHERE number = NEW.document AND bytes <> NEW.size;
END;
CREATE INDEX documents_upload ON documents (identity) WHERE source = 'upload';

CREATE VIEW document_facts AS
SELECT d.document_id, d.tenant_id, d.workspace_id, d.collection_id, d.source, d.identity, d.name, d.state, d.branch,
  d.title, d.media, v.blob, coalesce(v.size, nullif(d.bytes, 0)) AS size, v.version_id, coalesce(v.chunks, 0) AS chunks,
  d.pages, d.metadata_json, d.error_stage, d.error_code, d.error_message,
  d.hidden_at IS NOT NULL OR c.removed_at IS NOT NULL AS hidden, d.created_at, d.updated_at, c.name AS collection,
  d.hidden_at, d.number
FROM documents d
  CROSS JOIN collections c ON c.collection_id = d.collection_id  -- in this order, whatever statistics say
  LEFT JOIN versions v ON v.generation_id = c.generation AND v.document = d.number AND v.state = 'current';

-- Nothing is left of the document: its bytes may go, unless another one needs them.
CREATE TRIGGER upload_owes_blob AFTER DELETE ON documents
WHEN OLD.source = 'upload'
BEGIN
  INSERT INTO debts (kind, about, due_at, created_at)
  VALUES ('free_blob', substr(OLD.identity, 17), strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'),
    strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))
  ON CONFLICT (kind, about) DO NOTHING;
END;

-- Bytes a job brought, until it has ended: a delete accepted before it takes the document away it was admitted for,
-- and not the bytes that came after.
CREATE TABLE held_blobs (
  queue_id TEXT PRIMARY KEY NOT NULL,
  blob TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX held_blobs_blob ON held_blobs (blob);
CREATE TRIGGER queue_lets_go AFTER UPDATE OF status ON unified_queue
WHEN NEW.status IN ('done', 'failed') AND NEW.item_type = 'file'
  AND EXISTS (SELECT 1 FROM held_blobs WHERE queue_id = NEW.queue_id)
BEGIN
  DELETE FROM held_blobs WHERE queue_id = NEW.queue_id;
END;
CREATE TRIGGER queue_removed_lets_go AFTER DELETE ON unified_queue
WHEN OLD.item_type = 'file' AND EXISTS (SELECT 1 FROM held_blobs WHERE queue_id = OLD.queue_id)
BEGIN
  DELETE FROM held_blobs WHERE queue_id = OLD.queue_id;
END;
CREATE TRIGGER held_owes_blob AFTER DELETE ON held_blobs
BEGIN
  INSERT INTO debts (kind, about, due_at, created_at)
  VALUES ('free_blob', OLD.blob, strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'), strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'))
  ON CONFLICT (kind, about) DO NOTHING;
END;
