-- claim_state (sqlite): what a claim must know first: claims made so far, whether anything is held back, whether a
-- suspect waits, the first lane (rank and tenant), and whether it is the only one. A few seeks; the lanes are the two
-- ends of queue_ready.
SELECT (SELECT claims FROM queue_claims),
  EXISTS (SELECT 1 FROM queue_pauses WHERE lifted = 0) OR EXISTS (SELECT 1 FROM queue_barriers),
  EXISTS (SELECT 1 FROM unified_queue INDEXED BY queue_suspects WHERE ready = 2),
  rank, tenant_id,
  (rank, tenant_id) = (SELECT rank, tenant_id FROM unified_queue INDEXED BY queue_ready
    WHERE ready = 1 ORDER BY rank, tenant_id DESC LIMIT 1)
FROM (SELECT 1) LEFT JOIN (SELECT rank, tenant_id FROM unified_queue INDEXED BY queue_ready
  WHERE ready = 1 ORDER BY rank DESC, tenant_id LIMIT 1)
