-- mend_barriers (sqlite): a tenant deletion that is gone or has ended, as REPLACE leaves it, closes nothing. A small table.
DELETE FROM queue_barriers WHERE NOT EXISTS (
  SELECT 1 FROM unified_queue q WHERE q.queue_id = queue_barriers.queue_id AND q.finished_at IS NULL
    AND q.item_type = 'delete_tenant' AND q.tenant_id = queue_barriers.tenant_id)
