-- meter_ready (sqlite): how many jobs could be claimed, by rank. Index: queue_ready alone.
SELECT rank, count(*) FROM unified_queue INDEXED BY queue_ready WHERE ready = 1 GROUP BY rank
