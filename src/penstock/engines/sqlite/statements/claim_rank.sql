-- claim_rank (sqlite): the highest rank below this one that has a ready job. Index: queue_ready, first entry.
SELECT rank FROM unified_queue INDEXED BY queue_ready WHERE ready = 1 AND rank < ? ORDER BY rank DESC LIMIT 1
