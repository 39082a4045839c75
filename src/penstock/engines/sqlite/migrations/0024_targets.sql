-- A rename stands in two lines: that of the path it leaves, and that of the path it takes.
--
-- What was submitted on its new path before it has ended when it runs, and what was submitted there after it waits for
-- it. A job still waits for one other, the latest of those it must wait for; whoever is freed by or from a rename looks
-- again for the next of them, for there the two lines part. A delete of the new path waits, too: it ends what waits on
-- its own path, not a rename that is on its way there.

ALTER TABLE unified_queue ADD COLUMN target TEXT GENERATED ALWAYS AS (
  CASE item_type WHEN 'rename' THEN 'path:' || collection || ':' || json_extract(payload_json, '$.new_path') END) VIRTUAL;
CREATE INDEX queue_targets ON unified_queue (tenant_id, target) WHERE finished_at IS NULL AND target IS NOT NULL;

DROP TRIGGER queue_line;
DROP TRIGGER queue_next;
DROP TRIGGER queue_next_after_removal;
DROP TRIGGER queue_requeued_by_hand;

-- A new row joins its lines. A delete first ends what waits in its own and tells what runs there to stop.
CREATE TRIGGER queue_line AFTER INSERT ON unified_queue
WHEN NEW.status = 'pending' AND (
  EXISTS (
    SELECT 1 FROM unified_queue other
    WHERE other.tenant_id = NEW.tenant_id AND other.subject = NEW.subject AND other.finished_at IS NULL
      AND other.rowid <> NEW.rowid)
  OR EXISTS (
    SELECT 1 FROM unified_queue other
    WHERE other.tenant_id = NEW.tenant_id AND other.target = NEW.subject AND other.finished_at IS NULL
      AND other.rowid <> NEW.rowid)
  OR NEW.target IS NOT NULL)
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
    SELECT ahead.queue_id FROM unified_queue ahead WHERE ahead.rowid = (
      SELECT max(max(
        coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = NEW.tenant_id AND o.subject = lines.name
          AND o.finished_at IS NULL AND o.rowid < NEW.rowid), 0),
        coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = NEW.tenant_id AND o.target = lines.name
          AND o.finished_at IS NULL AND o.rowid < NEW.rowid), 0)))
      FROM (SELECT NEW.subject AS name UNION ALL SELECT NEW.target) lines))
  WHERE rowid = NEW.rowid;
END;

-- An ended row lets the next of its line go on; one that ended in mid-line hands its own place on.
CREATE TRIGGER queue_next AFTER UPDATE OF status ON unified_queue
WHEN NEW.status IN ('done', 'failed') AND EXISTS (SELECT 1 FROM unified_queue WHERE behind = NEW.queue_id)
BEGIN
  UPDATE unified_queue SET behind = (
    SELECT ahead.queue_id FROM unified_queue ahead WHERE ahead.rowid = (
      SELECT max(max(
        coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = unified_queue.tenant_id AND o.subject = lines.name
          AND o.finished_at IS NULL AND o.rowid < max(unified_queue.rowid, OLD.rowid)
          AND o.rowid NOT IN (unified_queue.rowid, OLD.rowid)), 0),
        coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = unified_queue.tenant_id AND o.target = lines.name
          AND o.finished_at IS NULL AND o.rowid < max(unified_queue.rowid, OLD.rowid)
          AND o.rowid NOT IN (unified_queue.rowid, OLD.rowid)), 0)))
      FROM (SELECT unified_queue.subject AS name UNION ALL SELECT unified_queue.target) lines))
  WHERE behind = NEW.queue_id AND (target IS NOT NULL OR OLD.target IS NOT NULL);
  UPDATE unified_queue SET behind = OLD.behind WHERE behind = NEW.queue_id;
END;
CREATE TRIGGER queue_next_after_removal AFTER DELETE ON unified_queue
WHEN OLD.finished_at IS NULL
BEGIN
  UPDATE unified_queue SET behind = (
    SELECT ahead.queue_id FROM unified_queue ahead WHERE ahead.rowid = (
      SELECT max(max(
        coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = unified_queue.tenant_id AND o.subject = lines.name
          AND o.finished_at IS NULL AND o.rowid < max(unified_queue.rowid, OLD.rowid)
          AND o.rowid <> unified_queue.rowid), 0),
        coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = unified_queue.tenant_id AND o.target = lines.name
          AND o.finished_at IS NULL AND o.rowid < max(unified_queue.rowid, OLD.rowid)
          AND o.rowid <> unified_queue.rowid), 0)))
      FROM (SELECT unified_queue.subject AS name UNION ALL SELECT unified_queue.target) lines))
  WHERE behind = OLD.queue_id AND (target IS NOT NULL OR OLD.target IS NOT NULL);
  UPDATE unified_queue SET behind = OLD.behind WHERE behind = OLD.queue_id;
  DELETE FROM queue_barriers WHERE queue_id = OLD.queue_id;
  UPDATE queue_batches SET total = total - 1, ended_at = CASE WHEN sealed AND done + failed >= total - 1 THEN
    strftime('%Y-%m-%dT%H:%M:%fZ', 'now') END
  WHERE OLD.batched = 1 AND batch_id IN (SELECT batch_id FROM queue_batch_members WHERE queue_id = OLD.queue_id);
  DELETE FROM queue_batch_members WHERE OLD.batched = 1 AND queue_id = OLD.queue_id;
END;
CREATE TRIGGER queue_requeued_by_hand AFTER UPDATE OF status ON unified_queue
WHEN NEW.status = 'pending' AND OLD.status IN ('done', 'failed')
BEGIN
  UPDATE unified_queue SET behind = (
    SELECT ahead.queue_id FROM unified_queue ahead WHERE ahead.rowid = (
      SELECT max(max(
        coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = NEW.tenant_id AND o.subject = lines.name
          AND o.finished_at IS NULL AND o.rowid <> NEW.rowid), 0),
        coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = NEW.tenant_id AND o.target = lines.name
          AND o.finished_at IS NULL AND o.rowid <> NEW.rowid), 0)))
      FROM (SELECT NEW.subject AS name UNION ALL SELECT NEW.target) lines))
  WHERE rowid = NEW.rowid;
  UPDATE queue_batches SET done = done - (OLD.status = 'done'), failed = failed - (OLD.status = 'failed'), ended_at = NULL
  WHERE NEW.batched = 1 AND batch_id IN (SELECT batch_id FROM queue_batch_members WHERE queue_id = NEW.queue_id);
  UPDATE queue_generations SET generation = generation + 1 WHERE NEW.item_type = 'delete_tenant';
  INSERT INTO queue_barriers (queue_id, tenant_id, generation)
  SELECT NEW.queue_id, NEW.tenant_id, generation FROM queue_generations
  WHERE NEW.item_type = 'delete_tenant' AND json_valid(NEW.payload_json)
    AND json_extract(NEW.payload_json, '$.tenant_id_to_delete') = NEW.tenant_id;
END;
