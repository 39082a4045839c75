-- barrier_clear (sqlite): the way is clear once nothing unfinished came before. Index: queue_unfinished.
UPDATE queue_barriers SET cleared = 1 WHERE queue_id = :id AND NOT EXISTS (
  SELECT 1 FROM unified_queue INDEXED BY queue_unfinished
  WHERE finished_at IS NULL AND tenant_id = :tenant AND generation < :generation AND queue_id <> :id)
