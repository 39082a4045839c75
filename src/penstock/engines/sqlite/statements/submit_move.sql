-- submit_move (sqlite): a waiting job joins another subject's line, at its end. Row numbers tell a line's order, so it gets
-- the next one; its turn among the tenant's jobs goes by created_at and stays. Indexes: queue_unfinished, queue_targets.
UPDATE unified_queue SET rowid = (SELECT max(rowid) + 1 FROM unified_queue), behind = (
  SELECT ahead.queue_id FROM unified_queue ahead WHERE ahead.rowid = (
    SELECT max(max(
      coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = unified_queue.tenant_id
        AND o.subject = lines.name AND o.finished_at IS NULL AND o.queue_id <> :id), 0),
      coalesce((SELECT max(o.rowid) FROM unified_queue o WHERE o.tenant_id = unified_queue.tenant_id
        AND o.target = lines.name AND o.finished_at IS NULL AND o.queue_id <> :id), 0)))
    FROM (SELECT unified_queue.subject AS name UNION ALL SELECT unified_queue.target) lines))
WHERE queue_id = :id
