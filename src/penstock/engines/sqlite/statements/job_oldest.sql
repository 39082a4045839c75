-- job_oldest (sqlite): the row number of the job that is ready for longest. Index: queue_oldest, first entry; while
-- something is held back, as far as the first job that is not. What holds back is what job_counts_held knows.
SELECT q.rowid FROM unified_queue q INDEXED BY queue_oldest
WHERE q.ready = 1
  AND NOT EXISTS (SELECT 1 FROM queue_pauses p WHERE p.lifted = 0 AND (p.scope = 'all'
    OR (p.scope = 'tenant' AND p.name = q.tenant_id) OR (p.scope = 'collection' AND p.name = q.collection)
    OR (p.scope = 'type' AND p.name = q.item_type)))
  AND NOT EXISTS (SELECT 1 FROM queue_barriers b
    WHERE b.tenant_id = q.tenant_id AND (b.queue_id <> q.queue_id OR b.cleared = 0))
ORDER BY q.created_at, q.rowid LIMIT 1
