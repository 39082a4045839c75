-- beat (sqlite): a worker process is alive and fetching.
INSERT INTO queue_workers (worker_id, pid, host, process, concurrency, started_at, beat_at)
VALUES (:id, :pid, :host, :process, :concurrency, :now, :now)
ON CONFLICT (worker_id) DO UPDATE SET beat_at = excluded.beat_at, concurrency = excluded.concurrency
