-- submit_leave (sqlite): a waiting job has left its subject's line; whoever waited for it looks again for the next before
-- them, in both lines of a rename. Indexes: queue_behind, queue_unfinished, queue_targets.
UPDATE unified_queue SET behind = (
  SELECT ahead.queue_id FROM unified_queue ahead WHERE ahead.rowid = (
    SELECT max(max(
      coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = unified_queue.tenant_id
        AND o.subject = lines.name AND o.finished_at IS NULL AND o.rowid < unified_queue.rowid AND o.queue_id <> :id), 0),
      coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = unified_queue.tenant_id
        AND o.target = lines.name AND o.finished_at IS NULL AND o.rowid < unified_queue.rowid AND o.queue_id <> :id), 0)))
    FROM (SELECT unified_queue.subject AS name UNION ALL SELECT unified_queue.target) lines))
WHERE behind = :id
