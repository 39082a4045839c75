-- submit_stop (sqlite): a waiting job became a delete: tell what runs on its subject to end. Index: queue_unfinished.
UPDATE unified_queue SET cancel_code = 'ERR_SUPERSEDED'
WHERE finished_at IS NULL AND status = 'in_progress' AND cancel_code IS NULL
  AND (tenant_id, subject) = (SELECT tenant_id, subject FROM unified_queue WHERE queue_id = :id)
