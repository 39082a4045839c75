-- The catalogue: tenants, collections, generations, documents, versions, chunks, vectors, stages and debts.
--
-- As with the queue, the table keeps the rules: triggers carry a job's fate to its stage and document, write the
-- events of both, and note which versions readers gained or lost; whoever changes a row, by whatever statement.

CREATE TABLE tenants (
  tenant_id TEXT PRIMARY KEY NOT NULL,
  workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
  created_at TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO tenants VALUES ('local', '00000000-0000-4000-8000-000000000002', strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'));

CREATE TABLE collections (
  collection_id INTEGER PRIMARY KEY AUTOINCREMENT,
  workspace_id TEXT NOT NULL REFERENCES workspaces (workspace_id),
  name TEXT NOT NULL CHECK (name <> ''),
  description TEXT NOT NULL DEFAULT '',
  generation INTEGER,                  -- the one that answers
  building INTEGER,                    -- the one being built beside it
  revision INTEGER NOT NULL DEFAULT 0, -- rises with every change a reader could see
  created_at TEXT NOT NULL,
  removed_at TEXT
);
CREATE UNIQUE INDEX collections_name ON collections (workspace_id, name) WHERE removed_at IS NULL;

CREATE TABLE generations (             -- each has a table words_<generation_id> beside it
  generation_id INTEGER PRIMARY KEY AUTOINCREMENT,
  collection_id INTEGER NOT NULL,
  recipe_json TEXT NOT NULL,
  model_id INTEGER,                    -- whose vectors its chunks have; told by the first chunk
  created_at TEXT NOT NULL
);
CREATE INDEX generations_collection ON generations (collection_id);

CREATE TABLE documents (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  document_id TEXT NOT NULL UNIQUE,
  workspace_id TEXT NOT NULL,
  tenant_id TEXT NOT NULL,
  collection_id INTEGER NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('file', 'content', 'library')),
  identity TEXT NOT NULL,
  name TEXT NOT NULL,
  branch TEXT NOT NULL DEFAULT 'main',
  state TEXT NOT NULL DEFAULT 'pending' CHECK (state IN ('pending', 'parsed', 'ingested', 'error')),
  title TEXT,
  media TEXT,
  pages INTEGER,
  metadata_json TEXT NOT NULL DEFAULT '{}',
  error_stage TEXT,
  error_code TEXT,
  error_message TEXT,
  hidden_at TEXT,                      -- deleted, as far as readers can tell
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
CREATE UNIQUE INDEX documents_identity ON documents (collection_id, identity, tenant_id) WHERE hidden_at IS NULL;
CREATE INDEX documents_state ON documents (collection_id, state, identity) WHERE hidden_at IS NULL;
CREATE INDEX documents_tenant ON documents (tenant_id) WHERE hidden_at IS NULL;
CREATE INDEX documents_collection ON documents (collection_id);
CREATE INDEX documents_workspace ON documents (workspace_id, identity) WHERE hidden_at IS NULL;

CREATE TABLE versions (
  version_id INTEGER PRIMARY KEY AUTOINCREMENT,
  document INTEGER NOT NULL,           -- documents.number
  generation_id INTEGER NOT NULL,
  blob TEXT NOT NULL,
  size INTEGER NOT NULL,
  state TEXT NOT NULL DEFAULT 'building' CHECK (state IN ('building', 'current', 'gone')),
  chunks INTEGER NOT NULL DEFAULT 0,
  begun_at TEXT NOT NULL,
  published_at TEXT
);
CREATE UNIQUE INDEX versions_current ON versions (generation_id, document) WHERE state = 'current';
CREATE UNIQUE INDEX versions_building ON versions (document, generation_id) WHERE state = 'building';
CREATE INDEX versions_document ON versions (document);
CREATE INDEX versions_generation ON versions (generation_id);
CREATE INDEX versions_blob ON versions (blob);

CREATE TABLE models (
  model_id INTEGER PRIMARY KEY,
  name TEXT NOT NULL UNIQUE,
  bytes INTEGER NOT NULL               -- the length of each of its vectors
);
CREATE TABLE embeddings (
  embedding_id INTEGER PRIMARY KEY,
  model_id INTEGER NOT NULL,
  text_key BLOB NOT NULL,
  vector BLOB NOT NULL,                -- 32-bit floats, little-endian
  used_at TEXT NOT NULL
);
CREATE UNIQUE INDEX embeddings_key ON embeddings (model_id, text_key);
CREATE INDEX embeddings_age ON embeddings (used_at);

CREATE TABLE chunks (
  chunk_id INTEGER PRIMARY KEY AUTOINCREMENT,  -- never used again: a reader may hold an old one
  version_id INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  span_start INTEGER NOT NULL,
  span_end INTEGER NOT NULL,
  tokens INTEGER NOT NULL,
  page_first INTEGER,
  page_last INTEGER,
  embedding_id INTEGER NOT NULL,
  headings_json TEXT NOT NULL DEFAULT '[]',
  lead TEXT NOT NULL DEFAULT '',
  text TEXT NOT NULL,
  grams TEXT NOT NULL DEFAULT ''       -- pairs of letters of scripts that put no space between words
);
CREATE UNIQUE INDEX chunks_ordinal ON chunks (version_id, ordinal);
CREATE INDEX chunks_embedding ON chunks (embedding_id);

CREATE TABLE parses (
  blob TEXT NOT NULL,
  parser TEXT NOT NULL,
  result TEXT NOT NULL,
  kept_at TEXT NOT NULL,
  PRIMARY KEY (blob, parser)
) WITHOUT ROWID;
CREATE INDEX parses_result ON parses (result);
CREATE INDEX parses_age ON parses (kept_at);

CREATE TABLE stages (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  stage_id TEXT NOT NULL UNIQUE,
  kind TEXT NOT NULL CHECK (kind IN ('parse', 'ingest', 'task')),
  document INTEGER NOT NULL,           -- documents.number
  queue_id TEXT NOT NULL,
  item_type TEXT NOT NULL DEFAULT '',
  op TEXT NOT NULL DEFAULT '',
  state TEXT NOT NULL CHECK (state IN ('queued', 'running', 'success', 'failed')),
  retry_count INTEGER NOT NULL DEFAULT 0,
  next_run_at TEXT,
  error_code TEXT,
  error_message TEXT,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  finished_at TEXT
);
CREATE INDEX stages_unfinished ON stages (queue_id, document) WHERE finished_at IS NULL;
CREATE INDEX stages_job ON stages (queue_id);
CREATE INDEX stages_document ON stages (document, finished_at);

CREATE TABLE debts (
  debt_id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL,
  about TEXT NOT NULL,
  details_json TEXT NOT NULL DEFAULT '{}',
  due_at TEXT NOT NULL,                -- taking a debt moves this on: held is not due
  owner TEXT,
  tries INTEGER NOT NULL DEFAULT 0,
  reason TEXT,
  created_at TEXT NOT NULL,
  UNIQUE (kind, about)
);
CREATE INDEX debts_due ON debts (due_at);

-- Which versions readers gained or lost, in order: how a process keeps its vectors in memory up to date.
CREATE TABLE index_changes (
  change_id INTEGER PRIMARY KEY AUTOINCREMENT,
  generation_id INTEGER NOT NULL,
  version_id INTEGER NOT NULL,
  shown INTEGER NOT NULL
);

-- The documented tables of jobs.
CREATE VIEW parse_jobs AS
SELECT s.stage_id AS id, d.document_id, d.workspace_id, s.queue_id, s.state AS status, s.retry_count,
  s.next_run_at, s.error_code, s.error_message, s.created_at, s.updated_at, s.finished_at
FROM stages s JOIN documents d ON d.number = s.document WHERE s.kind = 'parse';
CREATE VIEW ingest_jobs AS
SELECT s.stage_id AS id, d.document_id, d.workspace_id, s.queue_id, s.state AS status, s.retry_count,
  s.next_run_at, s.error_code, s.error_message, s.created_at, s.updated_at, s.finished_at
FROM stages s JOIN documents d ON d.number = s.document WHERE s.kind = 'ingest';

-- A document with its current version in the answering generation. Hidden: itself, or with its collection.
CREATE VIEW document_facts AS
SELECT d.document_id, d.tenant_id, d.workspace_id, d.collection_id, d.source, d.identity, d.name, d.state, d.branch,
  d.title, d.media, v.blob, v.size, v.version_id, coalesce(v.chunks, 0) AS chunks, d.pages, d.metadata_json,
  d.error_stage, d.error_code, d.error_message, d.hidden_at IS NOT NULL OR c.removed_at IS NOT NULL AS hidden,
  d.created_at, d.updated_at, c.name AS collection, d.hidden_at, d.number
FROM documents d
  CROSS JOIN collections c ON c.collection_id = d.collection_id  -- in this order, whatever statistics say
  LEFT JOIN versions v ON v.generation_id = c.generation AND v.document = d.number AND v.state = 'current';

-- An event written from SQL: numbered as any other. A time that is not in our form was written by hand.
CREATE VIEW event_feed AS SELECT workspace_id, '' AS ts, '' AS type, '' AS payload_json FROM workspaces WHERE 0;
CREATE TRIGGER event_feed_append INSTEAD OF INSERT ON event_feed
BEGIN
  INSERT INTO event_counters (user_id, seq) SELECT owner, 1 FROM workspaces WHERE workspace_id = NEW.workspace_id
  ON CONFLICT (user_id) DO UPDATE SET seq = seq + 1;
  INSERT INTO events (user_id, seq, ts, type, payload_json)
  SELECT n.user_id, n.seq, CASE WHEN NEW.ts GLOB '????-??-??T??:??:??.??????Z' THEN NEW.ts
      ELSE strftime('%Y-%m-%dT%H:%M:%f000Z', 'now') END, NEW.type, NEW.payload_json
  FROM workspaces w JOIN event_counters n ON n.user_id = w.owner WHERE w.workspace_id = NEW.workspace_id;
END;

CREATE TRIGGER document_created AFTER INSERT ON documents
BEGIN
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  SELECT NEW.workspace_id, NEW.created_at, 'document.created', json_object('workspace_id', NEW.workspace_id,
    'document', json_object('id', NEW.document_id, 'name', NEW.name, 'collection', c.name, 'status', NEW.state,
      'created_at', NEW.created_at))
  FROM collections c WHERE c.collection_id = NEW.collection_id;
END;
CREATE TRIGGER document_moved_on AFTER UPDATE OF state ON documents
WHEN NEW.state <> OLD.state AND NEW.hidden_at IS NULL
BEGIN
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  VALUES (NEW.workspace_id, NEW.updated_at, 'document.status_updated', json_object('workspace_id', NEW.workspace_id,
    'document_id', NEW.document_id, 'status', NEW.state));
END;
-- A rename changes no state; the event makes readers look at the document again.
CREATE TRIGGER document_renamed AFTER UPDATE OF identity, name ON documents
WHEN (NEW.identity <> OLD.identity OR NEW.name <> OLD.name) AND NEW.hidden_at IS NULL
BEGIN
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  VALUES (NEW.workspace_id, NEW.updated_at, 'document.status_updated', json_object('workspace_id', NEW.workspace_id,
    'document_id', NEW.document_id, 'status', NEW.state));
  UPDATE collections SET revision = revision + 1 WHERE collection_id = NEW.collection_id;
END;
CREATE TRIGGER document_hidden AFTER UPDATE OF hidden_at ON documents
WHEN OLD.hidden_at IS NULL AND NEW.hidden_at IS NOT NULL
BEGIN
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  VALUES (NEW.workspace_id, NEW.hidden_at, 'document.status_updated', json_object('workspace_id', NEW.workspace_id,
    'document_id', NEW.document_id, 'status', 'deleted'));
  UPDATE versions SET state = 'gone' WHERE document = NEW.number AND state <> 'gone';
  UPDATE collections SET revision = revision + 1 WHERE collection_id = NEW.collection_id;
END;

-- A version is seen from here on, or no more.
CREATE TRIGGER version_shown AFTER UPDATE OF state ON versions
WHEN NEW.state <> OLD.state AND (NEW.state = 'current' OR OLD.state = 'current')
BEGIN
  INSERT INTO index_changes (generation_id, version_id, shown)
  VALUES (NEW.generation_id, NEW.version_id, NEW.state = 'current');
  DELETE FROM index_changes WHERE change_id <= (SELECT max(change_id) FROM index_changes) - 20000;
  UPDATE collections SET revision = revision + 1
  WHERE collection_id = (SELECT collection_id FROM generations WHERE generation_id = NEW.generation_id)
    AND generation = NEW.generation_id;
END;
CREATE TRIGGER version_removed AFTER DELETE ON versions
WHEN OLD.state = 'current'
BEGIN
  INSERT INTO index_changes (generation_id, version_id, shown) VALUES (OLD.generation_id, OLD.version_id, 0);
  UPDATE collections SET revision = revision + 1
  WHERE collection_id = (SELECT collection_id FROM generations WHERE generation_id = OLD.generation_id)
    AND generation = OLD.generation_id;
END;

CREATE TRIGGER stage_opened AFTER INSERT ON stages
BEGIN
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  SELECT d.workspace_id, NEW.created_at, 'job.status_updated', json_object('job_id', NEW.stage_id,
    'job_type', NEW.kind, 'document_id', d.document_id, 'workspace_id', d.workspace_id, 'status', NEW.state,
    'retry_count', NEW.retry_count, 'error_message', NEW.error_message)
  FROM documents d WHERE d.number = NEW.document AND NEW.kind <> 'task';
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  SELECT d.workspace_id, NEW.created_at, 'task.status_updated', json_object('job_id', NEW.stage_id,
    'item_type', NEW.item_type, 'op', NEW.op, 'document_id', d.document_id, 'workspace_id', d.workspace_id,
    'status', NEW.state, 'retry_count', NEW.retry_count, 'error_message', NEW.error_message)
  FROM documents d WHERE d.number = NEW.document AND NEW.kind = 'task';
END;
CREATE TRIGGER stage_moved_on AFTER UPDATE OF state ON stages
WHEN NEW.state <> OLD.state
BEGIN
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  SELECT d.workspace_id, NEW.updated_at, 'job.status_updated', json_object('job_id', NEW.stage_id,
    'job_type', NEW.kind, 'document_id', d.document_id, 'workspace_id', d.workspace_id, 'status', NEW.state,
    'retry_count', NEW.retry_count, 'error_message', NEW.error_message)
  FROM documents d WHERE d.number = NEW.document AND NEW.kind <> 'task';
  INSERT INTO event_feed (workspace_id, ts, type, payload_json)
  SELECT d.workspace_id, NEW.updated_at, 'task.status_updated', json_object('job_id', NEW.stage_id,
    'item_type', NEW.item_type, 'op', NEW.op, 'document_id', d.document_id, 'workspace_id', d.workspace_id,
    'status', NEW.state, 'retry_count', NEW.retry_count, 'error_message', NEW.error_message)
  FROM documents d WHERE d.number = NEW.document AND NEW.kind = 'task';
  -- A failed step is the document's error, unless a later job on it still has its say.
  UPDATE documents SET state = 'error', error_stage = NEW.kind,
    error_code = coalesce(NEW.error_code, 'ERR_UNEXPECTED'), error_message = coalesce(NEW.error_message, ''),
    updated_at = NEW.updated_at
  WHERE NEW.state = 'failed' AND NEW.kind <> 'task' AND number = NEW.document AND hidden_at IS NULL
    AND NOT EXISTS (SELECT 1 FROM stages other WHERE other.document = NEW.document AND other.finished_at IS NULL
      AND other.kind <> 'task' AND other.stage_id <> NEW.stage_id);
END;

-- A stage follows its job, whoever moves it. Jobs without a stage cost one look into a small index.
CREATE TRIGGER queue_stage AFTER UPDATE OF status ON unified_queue
WHEN NEW.status <> OLD.status AND EXISTS (
  SELECT 1 FROM stages WHERE queue_id = NEW.queue_id AND finished_at IS NULL)
BEGIN
  UPDATE stages SET
    state = CASE NEW.status WHEN 'pending' THEN 'queued' WHEN 'in_progress' THEN 'running' WHEN 'done' THEN 'success'
      ELSE 'failed' END,
    retry_count = NEW.retry_count,
    next_run_at = CASE NEW.status WHEN 'pending' THEN NEW.next_run_at END,
    error_code = CASE WHEN NEW.status IN ('pending', 'failed') THEN NEW.error_code
      WHEN NEW.status = 'in_progress' THEN error_code END,
    error_message = CASE WHEN NEW.status IN ('pending', 'failed') THEN substr(NEW.error_message, 1, 4000)
      WHEN NEW.status = 'in_progress' THEN error_message END,
    updated_at = NEW.updated_at,
    finished_at = CASE WHEN NEW.status IN ('done', 'failed') THEN NEW.updated_at END
  WHERE queue_id = NEW.queue_id AND finished_at IS NULL;
END;
-- It failed between two stages: the document must not wait for a step nobody will take.
CREATE TRIGGER queue_between_stages AFTER UPDATE OF status ON unified_queue
WHEN NEW.status = 'failed' AND OLD.status <> 'failed'
  AND EXISTS (SELECT 1 FROM stages WHERE queue_id = NEW.queue_id)
  AND NOT EXISTS (SELECT 1 FROM stages WHERE queue_id = NEW.queue_id AND finished_at IS NULL)
BEGIN
  UPDATE documents SET state = 'error', error_stage = 'ingest',
    error_code = coalesce(NEW.error_code, 'ERR_UNEXPECTED'),
    error_message = coalesce(substr(NEW.error_message, 1, 4000), ''), updated_at = NEW.updated_at
  WHERE number IN (SELECT document FROM stages WHERE queue_id = NEW.queue_id AND kind <> 'task')
    AND hidden_at IS NULL AND state IN ('pending', 'parsed')
    AND NOT EXISTS (SELECT 1 FROM stages other WHERE other.document = documents.number AND other.finished_at IS NULL
      AND other.kind <> 'task');
END;
-- A failed job put back by hand takes up the step it failed at.
CREATE TRIGGER queue_stage_reopened AFTER UPDATE OF status ON unified_queue
WHEN OLD.status = 'failed' AND NEW.status IN ('pending', 'in_progress')
  AND EXISTS (SELECT 1 FROM stages WHERE queue_id = NEW.queue_id AND state = 'failed')
BEGIN
  UPDATE stages SET state = CASE NEW.status WHEN 'pending' THEN 'queued' ELSE 'running' END, finished_at = NULL,
    retry_count = NEW.retry_count, next_run_at = NEW.next_run_at, updated_at = NEW.updated_at
  WHERE number = (SELECT max(number) FROM stages WHERE queue_id = NEW.queue_id AND state = 'failed');
  UPDATE documents SET state = 'pending', error_stage = NULL, error_code = NULL, error_message = NULL,
    updated_at = NEW.updated_at
  WHERE state = 'error' AND hidden_at IS NULL
    AND number IN (SELECT document FROM stages WHERE queue_id = NEW.queue_id AND kind <> 'task');
END;
CREATE TRIGGER queue_stage_removed AFTER DELETE ON unified_queue
WHEN OLD.finished_at IS NULL AND EXISTS (SELECT 1 FROM stages WHERE queue_id = OLD.queue_id AND finished_at IS NULL)
BEGIN
  UPDATE stages SET state = 'failed', error_code = 'ERR_CANCELLED', error_message = 'its job was removed',
    updated_at = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now'), finished_at = strftime('%Y-%m-%dT%H:%M:%f000Z', 'now')
  WHERE queue_id = OLD.queue_id AND finished_at IS NULL;
END;
