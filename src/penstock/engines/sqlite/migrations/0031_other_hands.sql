-- Two more ways in which other programs write rows: an ended one is taken up at once, and a whole one is written over itself.
--
-- 0001 knows an ended row only as one that goes back to wait. One that goes straight to work is unfinished too: its end was
-- taken back, whoever waits on its object waits for it, and its next end counts.
DROP TRIGGER queue_requeued_by_hand;
CREATE TRIGGER queue_taken_up_by_hand AFTER UPDATE OF status ON unified_queue
WHEN OLD.status IN ('done', 'failed') AND NEW.status NOT IN ('done', 'failed')
BEGIN
  UPDATE unified_queue SET behind = (
    SELECT ahead.queue_id FROM unified_queue ahead WHERE ahead.rowid = (
      SELECT max(max(
        coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = NEW.tenant_id AND o.subject = lines.name
          AND o.finished_at IS NULL AND o.rowid <> NEW.rowid), 0),
        coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = NEW.tenant_id AND o.target = lines.name
          AND o.finished_at IS NULL AND o.rowid <> NEW.rowid), 0)))
      FROM (SELECT NEW.subject AS name UNION ALL SELECT NEW.target) lines))
  WHERE rowid = NEW.rowid AND NEW.status = 'pending';
  UPDATE unified_queue SET token = token + (NEW.token = OLD.token), finished_at = NULL
  WHERE rowid = NEW.rowid AND NEW.status = 'in_progress';
  UPDATE unified_queue SET behind = NEW.queue_id
  WHERE NEW.status = 'in_progress' AND tenant_id = NEW.tenant_id AND finished_at IS NULL AND status = 'pending'
    AND behind IS NULL AND (subject IN (NEW.subject, NEW.target) OR (target IS NOT NULL AND target IN (NEW.subject, NEW.target)));
  UPDATE queue_batches SET done = done - (OLD.status = 'done'), failed = failed - (OLD.status = 'failed'), ended_at = NULL
  WHERE NEW.batched = 1 AND batch_id IN (SELECT batch_id FROM queue_batch_members WHERE queue_id = NEW.queue_id);
  UPDATE queue_generations SET generation = generation + 1 WHERE NEW.item_type = 'delete_tenant';
  INSERT INTO queue_barriers (queue_id, tenant_id, generation)
  SELECT NEW.queue_id, NEW.tenant_id, generation FROM queue_generations
  WHERE NEW.item_type = 'delete_tenant' AND json_valid(NEW.payload_json)
    AND json_extract(NEW.payload_json, '$.tenant_id_to_delete') = NEW.tenant_id;
END;

-- Who writes a whole row over itself (ON CONFLICT (queue_id) DO UPDATE, DO NOTHING, IGNORE) makes the one that waits lend its
-- key for nothing. So whoever comes to wait has all such keys given back first, and finds the one that waits.
DROP TRIGGER queue_key_wanted;
DROP TRIGGER queue_another_key_wanted;
DROP TRIGGER queue_taken_back_by_hand;
CREATE TRIGGER queue_key_wanted BEFORE INSERT ON unified_queue
WHEN NEW.keyed = 2 AND (EXISTS (SELECT 1 FROM queue_lent) OR EXISTS (
  SELECT 1 FROM unified_queue holder
  WHERE holder.idempotency_key = NEW.idempotency_key AND holder.tenant_id = NEW.tenant_id AND holder.keyed
    AND (holder.status <> 'pending' OR NEW.status <> 'pending')))
BEGIN
  DELETE FROM queue_lent;
  INSERT INTO queue_lent (queue_id) SELECT queue_id FROM unified_queue
  WHERE idempotency_key = NEW.idempotency_key AND tenant_id = NEW.tenant_id AND keyed AND status = 'pending'
    AND NEW.status <> 'pending';
  UPDATE unified_queue SET keyed = 0
  WHERE idempotency_key = NEW.idempotency_key AND tenant_id = NEW.tenant_id AND keyed
    AND (status <> 'pending' OR NEW.status <> 'pending');
END;
CREATE TRIGGER queue_another_key_wanted BEFORE UPDATE OF idempotency_key, tenant_id ON unified_queue
WHEN NEW.keyed AND (EXISTS (SELECT 1 FROM queue_lent) OR EXISTS (
  SELECT 1 FROM unified_queue holder
  WHERE holder.idempotency_key = NEW.idempotency_key AND holder.tenant_id = NEW.tenant_id AND holder.keyed
    AND holder.rowid <> OLD.rowid AND (holder.status <> 'pending' OR NEW.status <> 'pending')))
BEGIN
  DELETE FROM queue_lent;
  INSERT INTO queue_lent (queue_id) SELECT queue_id FROM unified_queue
  WHERE idempotency_key = NEW.idempotency_key AND tenant_id = NEW.tenant_id AND keyed AND status = 'pending'
    AND NEW.status <> 'pending' AND rowid <> OLD.rowid;
  UPDATE unified_queue SET keyed = 0
  WHERE idempotency_key = NEW.idempotency_key AND tenant_id = NEW.tenant_id AND keyed AND rowid <> OLD.rowid
    AND (status <> 'pending' OR NEW.status <> 'pending');
END;
CREATE TRIGGER queue_taken_back_by_hand AFTER UPDATE OF status ON unified_queue
WHEN NEW.status = 'pending' AND OLD.status <> 'pending' AND (NEW.token = OLD.token OR NEW.keyed = 0)
BEGIN
  DELETE FROM queue_lent;
  -- Said here, and not left to the index, because OR IGNORE and OR FAIL would leave a row that waits without its key.
  SELECT RAISE(ABORT, 'UNIQUE constraint failed: unified_queue.idempotency_key, unified_queue.tenant_id')
  FROM unified_queue
  WHERE idempotency_key = NEW.idempotency_key AND tenant_id = NEW.tenant_id AND keyed AND status = 'pending'
    AND rowid <> NEW.rowid;
  UPDATE unified_queue SET keyed = 0
  WHERE idempotency_key = NEW.idempotency_key AND tenant_id = NEW.tenant_id AND keyed AND rowid <> NEW.rowid;
  UPDATE unified_queue SET token = token + (NEW.token = OLD.token), finished_at = NULL, keyed = 1 WHERE rowid = NEW.rowid;
END;
