-- The queue: the documented table, the columns and indexes our rules need, and the rules a row keeps by itself.
--
-- Triggers, not Python, keep a subject's line, a delete's reach, a batch's counts and a tenant's barrier, so that
-- a row written, moved or removed by raw SQL obeys them too. All our own columns have defaults or are generated:
-- an INSERT that names only the documented columns is a whole job.

CREATE TABLE unified_queue (
  queue_id TEXT PRIMARY KEY NOT NULL CHECK (typeof(queue_id) = 'text' AND queue_id <> ''),
  item_type TEXT NOT NULL CHECK (item_type IN
    ('content', 'file', 'folder', 'project', 'library', 'delete_tenant', 'delete_document', 'rename')),
  op TEXT NOT NULL CHECK (op IN ('ingest', 'update', 'delete', 'scan')),
  tenant_id TEXT NOT NULL CHECK (tenant_id <> ''),
  collection TEXT NOT NULL CHECK (collection <> ''),
  priority INTEGER NOT NULL DEFAULT 5 CHECK (typeof(priority) = 'integer' AND priority BETWEEN 0 AND 10),
  status TEXT NOT NULL DEFAULT 'pending' CHECK (status IN ('pending', 'in_progress', 'done', 'failed')),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  lease_until TEXT,
  worker_id TEXT,
  idempotency_key TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  retry_count INTEGER NOT NULL DEFAULT 0 CHECK (typeof(retry_count) = 'integer'),
  max_retries INTEGER NOT NULL DEFAULT 3 CHECK (typeof(max_retries) = 'integer'),
  error_message TEXT,
  last_error_at TEXT,
  branch TEXT DEFAULT 'main',
  metadata TEXT DEFAULT '{}',

  -- Beyond the contract.
  document_id TEXT,
  next_run_at TEXT,                         -- not before; promote clears it when the time has come
  behind TEXT,                              -- the job of the same subject it waits for
  paused INTEGER NOT NULL DEFAULT 0,        -- met by a claim while its collection or type was paused
  crashes INTEGER NOT NULL DEFAULT 0,       -- workers that died while they ran it
  -- Rises with every attempt; what a settle must name. Begins anywhere: an id used again honours no old token.
  token INTEGER NOT NULL DEFAULT (abs(random() % 1000000000000)),
  started_at TEXT,
  finished_at TEXT,                         -- NULL as long as the job is unfinished
  parked_since TEXT,
  error_code TEXT,
  cancel_code TEXT,                         -- a running attempt is told to end with this code
  delete_first INTEGER NOT NULL DEFAULT 0,  -- an ingest came over a waiting delete: do both
  progress_done INTEGER,
  progress_total INTEGER,
  replay_of TEXT,
  batched INTEGER NOT NULL DEFAULT 0,
  generation INTEGER NOT NULL DEFAULT 0,    -- the latest deletion of its tenant that was there before it

  rank INTEGER GENERATED ALWAYS AS (CASE op WHEN 'delete' THEN 10 ELSE priority END) VIRTUAL,
  -- 1: any worker may claim it. 2: a suspect, for a worker that runs nothing else.
  ready INTEGER GENERATED ALWAYS AS (
    CASE WHEN status = 'pending' AND behind IS NULL AND next_run_at IS NULL AND paused = 0
      THEN CASE WHEN crashes < 2 THEN 1 ELSE 2 END END) VIRTUAL,
  -- The same as subject_of() in the model.
  subject TEXT GENERATED ALWAYS AS (
    CASE WHEN document_id IS NOT NULL THEN 'document:' || document_id ELSE
      CASE item_type
        WHEN 'file' THEN 'path:' || collection || ':' || json_extract(payload_json, '$.file_path')
        WHEN 'folder' THEN 'path:' || collection || ':' || json_extract(payload_json, '$.folder_path')
        WHEN 'project' THEN 'path:' || collection || ':' || json_extract(payload_json, '$.project_root')
        WHEN 'rename' THEN 'path:' || collection || ':' || json_extract(payload_json, '$.old_path')
        WHEN 'delete_document' THEN
          CASE WHEN json_extract(payload_json, '$.document_id') LIKE '/%'
            THEN 'path:' || collection || ':' || json_extract(payload_json, '$.document_id')
            ELSE 'document:' || json_extract(payload_json, '$.document_id') END
        WHEN 'delete_tenant' THEN 'delete_tenant'
        ELSE idempotency_key END END) VIRTUAL,

  CHECK (
    (item_type IN ('content', 'file', 'library') AND op IN ('ingest', 'update', 'delete'))
    OR (item_type IN ('folder', 'project') AND op IN ('ingest', 'delete', 'scan'))
    OR (item_type IN ('delete_tenant', 'delete_document') AND op = 'delete')
    OR (item_type = 'rename' AND op = 'update'))
);

-- The documented indexes.
CREATE INDEX idx_unified_queue_dequeue ON unified_queue (status, priority DESC, created_at);
CREATE UNIQUE INDEX idx_unified_queue_idempotency ON unified_queue (idempotency_key, tenant_id)
  WHERE status = 'pending';
CREATE INDEX idx_unified_queue_lease_expiry ON unified_queue (lease_until) WHERE status = 'in_progress';
CREATE INDEX idx_unified_queue_collection_tenant ON unified_queue (collection, tenant_id);
CREATE INDEX idx_unified_queue_item_type ON unified_queue (item_type, status);
CREATE INDEX idx_unified_queue_failed ON unified_queue (status, last_error_at) WHERE status = 'failed';
CREATE INDEX idx_unified_queue_worker ON unified_queue (worker_id, status) WHERE status = 'in_progress';

-- Ours: a claim touches only claimable rows, however many others there are.
CREATE INDEX queue_ready ON unified_queue (rank DESC, tenant_id, created_at) WHERE ready = 1;
CREATE INDEX queue_oldest ON unified_queue (created_at) WHERE ready = 1;
CREATE INDEX queue_suspects ON unified_queue (created_at) WHERE ready = 2;
CREATE INDEX queue_due ON unified_queue (next_run_at) WHERE status = 'pending' AND next_run_at IS NOT NULL;
CREATE INDEX queue_paused ON unified_queue (paused) WHERE paused = 1;
CREATE INDEX queue_behind ON unified_queue (behind) WHERE behind IS NOT NULL;
CREATE INDEX queue_unfinished ON unified_queue (tenant_id, subject) WHERE finished_at IS NULL;

CREATE TABLE queue_workers (
  worker_id TEXT PRIMARY KEY NOT NULL,
  pid INTEGER NOT NULL,
  host TEXT NOT NULL,
  process TEXT NOT NULL,              -- tells whether the process still exists; empty where the system cannot say
  concurrency INTEGER NOT NULL,
  started_at TEXT NOT NULL,
  beat_at TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE queue_aliases (          -- ids of submits that joined another job
  alias TEXT PRIMARY KEY NOT NULL,
  queue_id TEXT NOT NULL
) WITHOUT ROWID;
CREATE INDEX queue_aliases_job ON queue_aliases (queue_id);

CREATE TABLE queue_pauses (
  scope TEXT NOT NULL CHECK (scope IN ('all', 'tenant', 'collection', 'type')),
  name TEXT NOT NULL,
  paused_by TEXT NOT NULL,
  paused_at TEXT NOT NULL,
  lifted INTEGER NOT NULL DEFAULT 0,  -- 1: resumed, but rows it parked are still being let go
  PRIMARY KEY (scope, name)
) WITHOUT ROWID;

CREATE TABLE queue_turns (            -- the tenant served last at each rank
  rank INTEGER PRIMARY KEY,
  tenant_id TEXT NOT NULL
);
CREATE TABLE queue_claims (           -- one row: how many jobs have ever been claimed
  one INTEGER PRIMARY KEY CHECK (one = 1),
  claims INTEGER NOT NULL
);
INSERT INTO queue_claims VALUES (1, 0);

CREATE TABLE queue_generations (      -- one row: numbers tenant deletions
  one INTEGER PRIMARY KEY CHECK (one = 1),
  generation INTEGER NOT NULL
);
INSERT INTO queue_generations VALUES (1, 0);
CREATE TABLE queue_barriers (         -- tenant deletions under way
  queue_id TEXT PRIMARY KEY NOT NULL,
  tenant_id TEXT NOT NULL,
  generation INTEGER NOT NULL,        -- everything of the tenant with a smaller one came before it
  cleared INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE queue_batches (
  batch_id TEXT PRIMARY KEY NOT NULL,
  parent TEXT,
  total INTEGER NOT NULL DEFAULT 0,
  done INTEGER NOT NULL DEFAULT 0,
  failed INTEGER NOT NULL DEFAULT 0,
  sealed INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  ended_at TEXT
) WITHOUT ROWID;
CREATE TABLE queue_batch_members (
  queue_id TEXT NOT NULL,
  batch_id TEXT NOT NULL,
  PRIMARY KEY (queue_id, batch_id)
) WITHOUT ROWID;

-- A new row joins its subject's line. A delete first ends what waits there and tells what runs to stop.
CREATE TRIGGER queue_line AFTER INSERT ON unified_queue
WHEN NEW.status = 'pending' AND EXISTS (
  SELECT 1 FROM unified_queue other
  WHERE other.tenant_id = NEW.tenant_id AND other.subject = NEW.subject AND other.finished_at IS NULL
    AND other.rowid <> NEW.rowid)
BEGIN
  UPDATE unified_queue SET cancel_code = 'ERR_SUPERSEDED'
  WHERE NEW.op = 'delete' AND tenant_id = NEW.tenant_id AND subject = NEW.subject AND finished_at IS NULL
    AND status = 'in_progress' AND cancel_code IS NULL AND rowid <> NEW.rowid;
  UPDATE unified_queue SET status = 'failed', finished_at = NEW.created_at, updated_at = NEW.created_at,
    behind = NULL, next_run_at = NULL, paused = 0, error_code = 'ERR_SUPERSEDED', last_error_at = NEW.created_at,
    error_message = 'a later request on the same object took its place'
  WHERE NEW.op = 'delete' AND tenant_id = NEW.tenant_id AND subject = NEW.subject AND finished_at IS NULL
    AND status = 'pending' AND rowid <> NEW.rowid;
  UPDATE unified_queue SET behind = (
    SELECT other.queue_id FROM unified_queue other
    WHERE other.tenant_id = NEW.tenant_id AND other.subject = NEW.subject AND other.finished_at IS NULL
      AND other.rowid < NEW.rowid
    ORDER BY other.rowid DESC LIMIT 1)
  WHERE rowid = NEW.rowid;
END;

-- An ended row lets the next of its line go on; one that ended in mid-line hands its own place on.
CREATE TRIGGER queue_next AFTER UPDATE OF status ON unified_queue
WHEN NEW.status IN ('done', 'failed') AND EXISTS (SELECT 1 FROM unified_queue WHERE behind = NEW.queue_id)
BEGIN
  UPDATE unified_queue SET behind = OLD.behind WHERE behind = NEW.queue_id;
END;
CREATE TRIGGER queue_next_after_removal AFTER DELETE ON unified_queue
WHEN OLD.finished_at IS NULL
BEGIN
  UPDATE unified_queue SET behind = OLD.behind WHERE behind = OLD.queue_id;
  DELETE FROM queue_barriers WHERE queue_id = OLD.queue_id;
  UPDATE queue_batches SET total = total - 1, ended_at = CASE WHEN sealed AND done + failed >= total - 1 THEN
    strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END
  WHERE OLD.batched = 1 AND batch_id IN (SELECT batch_id FROM queue_batch_members WHERE queue_id = OLD.queue_id);
  DELETE FROM queue_batch_members WHERE OLD.batched = 1 AND queue_id = OLD.queue_id;
END;

-- Rows inserted, ended, requeued or taken over by raw SQL that names only the documented columns.
CREATE TRIGGER queue_ended_from_the_start AFTER INSERT ON unified_queue
WHEN NEW.status IN ('done', 'failed') AND NEW.finished_at IS NULL
BEGIN
  UPDATE unified_queue SET finished_at = NEW.updated_at WHERE rowid = NEW.rowid;
END;
CREATE TRIGGER queue_ended_by_hand AFTER UPDATE OF status ON unified_queue
WHEN NEW.status IN ('done', 'failed') AND NEW.finished_at IS NULL
BEGIN
  UPDATE unified_queue SET finished_at = NEW.updated_at, behind = NULL, next_run_at = NULL, paused = 0
  WHERE rowid = NEW.rowid;
END;
CREATE TRIGGER queue_taken_back_by_hand AFTER UPDATE OF status ON unified_queue
WHEN NEW.status = 'pending' AND OLD.status <> 'pending' AND NEW.token = OLD.token
BEGIN
  UPDATE unified_queue SET token = token + 1, finished_at = NULL WHERE rowid = NEW.rowid;
END;
CREATE TRIGGER queue_requeued_by_hand AFTER UPDATE OF status ON unified_queue
WHEN NEW.status = 'pending' AND OLD.status IN ('done', 'failed')
BEGIN
  UPDATE unified_queue SET behind = (
    SELECT other.queue_id FROM unified_queue other
    WHERE other.tenant_id = NEW.tenant_id AND other.subject = NEW.subject AND other.finished_at IS NULL
      AND other.rowid <> NEW.rowid
    ORDER BY other.rowid DESC LIMIT 1)
  WHERE rowid = NEW.rowid;
  UPDATE queue_batches SET done = done - (OLD.status = 'done'), failed = failed - (OLD.status = 'failed'), ended_at = NULL
  WHERE NEW.batched = 1 AND batch_id IN (SELECT batch_id FROM queue_batch_members WHERE queue_id = NEW.queue_id);
  UPDATE queue_generations SET generation = generation + 1 WHERE NEW.item_type = 'delete_tenant';
  INSERT INTO queue_barriers (queue_id, tenant_id, generation)
  SELECT NEW.queue_id, NEW.tenant_id, generation FROM queue_generations WHERE NEW.item_type = 'delete_tenant';
END;
CREATE TRIGGER queue_taken_over_by_hand AFTER UPDATE OF worker_id ON unified_queue
WHEN OLD.status = 'in_progress' AND NEW.status = 'in_progress' AND NEW.worker_id IS NOT OLD.worker_id
  AND NEW.token = OLD.token
BEGIN
  UPDATE unified_queue SET token = token + 1 WHERE rowid = NEW.rowid;
END;

-- A tenant deletion closes its tenant until it has ended; one that does not name its own tenant closes nothing.
CREATE TRIGGER queue_barrier AFTER INSERT ON unified_queue
WHEN NEW.item_type = 'delete_tenant' AND NEW.status = 'pending' AND json_valid(NEW.payload_json)
  AND json_extract(NEW.payload_json, '$.tenant_id_to_delete') = NEW.tenant_id
BEGIN
  UPDATE queue_generations SET generation = generation + 1;
  INSERT INTO queue_barriers (queue_id, tenant_id, generation)
  SELECT NEW.queue_id, NEW.tenant_id, generation FROM queue_generations;
END;
CREATE TRIGGER queue_after_barrier AFTER INSERT ON unified_queue
WHEN EXISTS (SELECT 1 FROM queue_barriers WHERE tenant_id = NEW.tenant_id AND queue_id <> NEW.queue_id)
BEGIN
  UPDATE unified_queue SET generation = (
    SELECT max(generation) FROM queue_barriers WHERE tenant_id = NEW.tenant_id AND queue_id <> NEW.queue_id)
  WHERE rowid = NEW.rowid;
END;
CREATE TRIGGER queue_barrier_ended AFTER UPDATE OF status ON unified_queue
WHEN NEW.item_type = 'delete_tenant' AND NEW.status IN ('done', 'failed')
BEGIN
  DELETE FROM queue_barriers WHERE queue_id = NEW.queue_id;
END;

-- A batch counts its children as they end.
CREATE TRIGGER queue_batch_count AFTER UPDATE OF status ON unified_queue
WHEN NEW.batched = 1 AND NEW.status IN ('done', 'failed') AND OLD.status NOT IN ('done', 'failed')
BEGIN
  UPDATE queue_batches SET
    done = done + (NEW.status = 'done'),
    failed = failed + (NEW.status = 'failed'),
    ended_at = CASE WHEN sealed AND done + failed + 1 >= total THEN NEW.updated_at END
  WHERE batch_id IN (SELECT batch_id FROM queue_batch_members WHERE queue_id = NEW.queue_id);
END;
