-- progress (sqlite): how far a running attempt is.
UPDATE unified_queue SET progress_done = ?, progress_total = ?, updated_at = ?
WHERE queue_id = ? AND token = ? AND status = 'in_progress'
