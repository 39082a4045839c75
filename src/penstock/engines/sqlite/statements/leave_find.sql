-- leave_find (sqlite): what a worker still holds. Index: idx_unified_queue_worker.
SELECT queue_id FROM unified_queue WHERE worker_id = ? AND status = 'in_progress' ORDER BY rowid
