-- claim_ring (sqlite): tenants with ready jobs at a rank, in order after the one served last; one seek each.
-- Index: queue_ready as a loose scan, so the cost is the number of tenants asked for, not of their jobs.
WITH RECURSIVE ring (tenant_id, n) AS (
  SELECT (SELECT tenant_id FROM unified_queue INDEXED BY queue_ready
          WHERE ready = 1 AND rank = :rank AND tenant_id > :after ORDER BY tenant_id LIMIT 1), 1
  UNION ALL
  SELECT (SELECT q.tenant_id FROM unified_queue q INDEXED BY queue_ready
          WHERE q.ready = 1 AND q.rank = :rank AND q.tenant_id > ring.tenant_id ORDER BY q.tenant_id LIMIT 1), n + 1
  FROM ring WHERE ring.tenant_id IS NOT NULL AND n < :limit
)
SELECT tenant_id FROM ring WHERE tenant_id IS NOT NULL
