-- workers_forget (sqlite): workers long dead are no longer shown; who they were.
DELETE FROM queue_workers WHERE beat_at < :before RETURNING worker_id
