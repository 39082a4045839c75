-- job_counts_held (sqlite): job_counts while pauses or tenant deletions hold jobs back; looks at every ready row.
WITH claimable AS MATERIALIZED (
  SELECT q.ready,
    EXISTS (SELECT 1 FROM queue_pauses p WHERE p.lifted = 0 AND (p.scope = 'all'
      OR (p.scope = 'tenant' AND p.name = q.tenant_id) OR (p.scope = 'collection' AND p.name = q.collection)
      OR (p.scope = 'type' AND p.name = q.item_type))) AS paused,
    EXISTS (SELECT 1 FROM queue_barriers b
      WHERE b.tenant_id = q.tenant_id AND (b.queue_id <> q.queue_id OR b.cleared = 0)) AS barred
  FROM unified_queue q WHERE q.ready IN (1, 2)
)
SELECT
  (SELECT count(*) FROM claimable WHERE ready = 1 AND NOT paused AND NOT barred),
  (SELECT count(*) FROM unified_queue WHERE status = 'pending' AND next_run_at IS NOT NULL AND behind IS NULL AND paused = 0),
  (SELECT count(*) FROM unified_queue WHERE behind IS NOT NULL AND paused = 0)
    + (SELECT count(*) FROM claimable WHERE barred AND NOT paused)
    + (SELECT count(*) FROM unified_queue WHERE paused = 2),
  (SELECT count(*) FROM unified_queue WHERE paused = 1) + (SELECT count(*) FROM claimable WHERE paused),
  (SELECT count(*) FROM claimable WHERE ready = 2 AND NOT paused AND NOT barred),
  (SELECT count(*) FROM unified_queue WHERE status = 'in_progress'),
  (SELECT count(*) FROM unified_queue WHERE status = 'done'),
  (SELECT count(*) FROM unified_queue WHERE status = 'failed')
