-- A row says itself whether it holds its key, so that a claim leaves the index of keys alone.
--
-- The index asked for the status, which every claim changes: each claimed row was taken out of a leaf of its own, for keys
-- are scattered, and that cost grew with the table. Now a row keeps its key while it runs. It lets it go when it ends, and
-- when another with the same key comes to wait; going back to wait it takes it again. So whoever waits holds his key, of
-- one key only one row can wait, and one that runs or has ended is in nobody's way. A claim writes neither `keyed` nor the
-- key: SQLite writes a partial index anew for every row of which a column in its condition is set.

DROP TRIGGER queue_ended_from_the_start;
DROP TRIGGER queue_ended_by_hand;
DROP TRIGGER queue_taken_back_by_hand;
DROP INDEX idx_unified_queue_idempotency;
-- 0: it does not hold its key. 1: it does. 2: it does, and comes from somebody who has not asked those who run first.
ALTER TABLE unified_queue ADD COLUMN keyed INTEGER NOT NULL DEFAULT 2;
UPDATE unified_queue SET keyed = 0 WHERE status <> 'pending';
CREATE UNIQUE INDEX idx_unified_queue_idempotency ON unified_queue (idempotency_key, tenant_id) WHERE keyed;

-- Who waits lends its key to a row that comes and does not wait: that one cannot come without, and gives it back at once.
-- A row stays here only if the newcomer did not come after all, which IGNORE leaves untold; pruning looks.
CREATE TABLE queue_lent (queue_id TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID;
CREATE TRIGGER queue_key_given_back AFTER DELETE ON queue_lent
BEGIN
  UPDATE unified_queue SET keyed = 1 WHERE queue_id = OLD.queue_id AND status = 'pending' AND NOT EXISTS (
    SELECT 1 FROM unified_queue holder
    WHERE holder.idempotency_key = unified_queue.idempotency_key AND holder.tenant_id = unified_queue.tenant_id
      AND holder.keyed);
END;

-- A newcomer, or a row that is given another key: only of two that wait is one refused.
CREATE TRIGGER queue_key_wanted BEFORE INSERT ON unified_queue
WHEN NEW.keyed = 2 AND EXISTS (
  SELECT 1 FROM unified_queue holder
  WHERE holder.idempotency_key = NEW.idempotency_key AND holder.tenant_id = NEW.tenant_id AND holder.keyed
    AND (holder.status <> 'pending' OR NEW.status <> 'pending'))
BEGIN
  INSERT OR IGNORE INTO queue_lent (queue_id) SELECT queue_id FROM unified_queue
  WHERE idempotency_key = NEW.idempotency_key AND tenant_id = NEW.tenant_id AND keyed AND status = 'pending';
  UPDATE unified_queue SET keyed = 0
  WHERE idempotency_key = NEW.idempotency_key AND tenant_id = NEW.tenant_id AND keyed;
END;
CREATE TRIGGER queue_another_key_wanted BEFORE UPDATE OF idempotency_key, tenant_id ON unified_queue
WHEN NEW.keyed AND EXISTS (
  SELECT 1 FROM unified_queue holder
  WHERE holder.idempotency_key = NEW.idempotency_key AND holder.tenant_id = NEW.tenant_id AND holder.keyed
    AND holder.rowid <> OLD.rowid AND (holder.status <> 'pending' OR NEW.status <> 'pending'))
BEGIN
  INSERT OR IGNORE INTO queue_lent (queue_id) SELECT queue_id FROM unified_queue
  WHERE idempotency_key = NEW.idempotency_key AND tenant_id = NEW.tenant_id AND keyed AND status = 'pending'
    AND rowid <> OLD.rowid;
  UPDATE unified_queue SET keyed = 0
  WHERE idempotency_key = NEW.idempotency_key AND tenant_id = NEW.tenant_id AND keyed AND rowid <> OLD.rowid;
END;
CREATE TRIGGER queue_another_key AFTER UPDATE OF idempotency_key, tenant_id ON unified_queue
WHEN NEW.keyed AND NEW.status <> 'pending'
BEGIN
  UPDATE unified_queue SET keyed = 0 WHERE rowid = NEW.rowid;
  DELETE FROM queue_lent;
END;

-- Rows inserted, ended or taken back by raw SQL that names only the documented columns, as 0001 has them; and their keys,
-- also where a statement of ours does not speak of them.
CREATE TRIGGER queue_begun_from_the_start AFTER INSERT ON unified_queue
WHEN NEW.status <> 'pending' AND (NEW.keyed OR NEW.finished_at IS NULL)
BEGIN
  UPDATE unified_queue SET keyed = 0,
    finished_at = CASE WHEN NEW.status IN ('done', 'failed') THEN coalesce(NEW.finished_at, NEW.updated_at)
      ELSE finished_at END
  WHERE rowid = NEW.rowid;
  DELETE FROM queue_lent;
END;
CREATE TRIGGER queue_ended_by_hand AFTER UPDATE OF status ON unified_queue
WHEN NEW.status IN ('done', 'failed') AND (NEW.finished_at IS NULL OR NEW.keyed)
BEGIN
  UPDATE unified_queue SET finished_at = coalesce(NEW.finished_at, NEW.updated_at), behind = NULL, next_run_at = NULL,
    paused = 0, keyed = 0
  WHERE rowid = NEW.rowid;
END;
CREATE TRIGGER queue_taken_back_by_hand AFTER UPDATE OF status ON unified_queue
WHEN NEW.status = 'pending' AND OLD.status <> 'pending' AND (NEW.token = OLD.token OR NEW.keyed = 0)
BEGIN
  -- Said here, and not left to the index, because OR IGNORE and OR FAIL would leave a row that waits without its key.
  SELECT RAISE(ABORT, 'UNIQUE constraint failed: unified_queue.idempotency_key, unified_queue.tenant_id')
  FROM unified_queue
  WHERE idempotency_key = NEW.idempotency_key AND tenant_id = NEW.tenant_id AND keyed AND status = 'pending'
    AND rowid <> NEW.rowid;
  UPDATE unified_queue SET keyed = 0
  WHERE idempotency_key = NEW.idempotency_key AND tenant_id = NEW.tenant_id AND keyed AND rowid <> NEW.rowid;
  UPDATE unified_queue SET token = token + (NEW.token = OLD.token), finished_at = NULL, keyed = 1 WHERE rowid = NEW.rowid;
END;
