-- A stage is due when its job is: also once that has become ready, or was put off, without another status. 0004 knows
-- only changes of status, so a stage showed a time gone by until its job was claimed. No event: nothing moved on.
CREATE TRIGGER queue_stage_due AFTER UPDATE OF next_run_at ON unified_queue
WHEN NEW.status = 'pending' AND OLD.status = 'pending' AND NEW.next_run_at IS NOT OLD.next_run_at
BEGIN
  UPDATE stages SET next_run_at = NEW.next_run_at WHERE queue_id = NEW.queue_id AND finished_at IS NULL;
END;
UPDATE stages SET next_run_at = (SELECT q.next_run_at FROM unified_queue q WHERE q.queue_id = stages.queue_id)
WHERE finished_at IS NULL AND next_run_at IS NOT NULL;
