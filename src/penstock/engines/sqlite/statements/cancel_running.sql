-- cancel_running (sqlite): a running one is told.
UPDATE unified_queue SET cancel_code = 'ERR_CANCELLED', updated_at = :now WHERE queue_id = :id AND status = 'in_progress'
