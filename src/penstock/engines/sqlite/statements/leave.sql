-- leave (sqlite): forget a worker.
DELETE FROM queue_workers WHERE worker_id = ?
