-- claim_heads (sqlite): every rank and tenant that has a ready job; one seek each. Index: queue_ready as a loose scan.
-- Used instead of claim_oldest while some tenants are closed, whose backlog must not be walked through.
WITH RECURSIVE lanes (rank, tenant_id) AS (
  SELECT * FROM (SELECT rank, tenant_id FROM unified_queue INDEXED BY queue_ready
                 WHERE ready = 1 ORDER BY rank DESC, tenant_id LIMIT 1)
  UNION ALL
  SELECT
    coalesce((SELECT q.rank FROM unified_queue q INDEXED BY queue_ready
              WHERE q.ready = 1 AND q.rank = lanes.rank AND q.tenant_id > lanes.tenant_id LIMIT 1),
             (SELECT q.rank FROM unified_queue q INDEXED BY queue_ready
              WHERE q.ready = 1 AND q.rank < lanes.rank ORDER BY q.rank DESC LIMIT 1)),
    coalesce((SELECT q.tenant_id FROM unified_queue q INDEXED BY queue_ready
              WHERE q.ready = 1 AND q.rank = lanes.rank AND q.tenant_id > lanes.tenant_id
              ORDER BY q.tenant_id LIMIT 1),
             (SELECT q.tenant_id FROM unified_queue q INDEXED BY queue_ready
              WHERE q.ready = 1 AND q.rank < lanes.rank ORDER BY q.rank DESC, q.tenant_id LIMIT 1))
  FROM lanes WHERE lanes.rank IS NOT NULL
)
SELECT rank, tenant_id FROM lanes WHERE rank IS NOT NULL
