-- rescue_any (sqlite): does anything run at all? Index: idx_unified_queue_worker, first entry.
SELECT EXISTS (SELECT 1 FROM unified_queue INDEXED BY idx_unified_queue_worker WHERE status = 'in_progress')
