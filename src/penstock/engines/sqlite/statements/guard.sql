-- guard (sqlite): does this attempt still hold its job?
SELECT EXISTS (SELECT 1 FROM unified_queue WHERE queue_id = ? AND token = ? AND status = 'in_progress')
