-- rescue_workers (sqlite): the processes of all known workers. Few rows.
SELECT worker_id, process FROM queue_workers
