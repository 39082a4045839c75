-- promote_any (sqlite): is anything due, or unfinished business of a pause or a tenant deletion? One look each.
SELECT EXISTS (SELECT 1 FROM unified_queue INDEXED BY queue_due
    WHERE status = 'pending' AND next_run_at IS NOT NULL AND next_run_at <= :now)
  OR EXISTS (SELECT 1 FROM queue_pauses WHERE lifted = 1) OR EXISTS (SELECT 1 FROM queue_barriers WHERE cleared = 0)
