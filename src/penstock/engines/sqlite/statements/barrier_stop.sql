-- barrier_stop (sqlite): tell what runs before a tenant deletion to end. Index: queue_unfinished.
UPDATE unified_queue SET cancel_code = 'ERR_SUPERSEDED'
WHERE finished_at IS NULL AND tenant_id = :tenant AND status = 'in_progress' AND generation < :generation AND queue_id <> :id
  AND cancel_code IS NULL
