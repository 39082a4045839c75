-- workers_forget (sqlite): workers long dead are no longer shown.
DELETE FROM queue_workers WHERE beat_at < :before
