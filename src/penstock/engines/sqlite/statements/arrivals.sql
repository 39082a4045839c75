-- arrivals (sqlite): is there anything a worker might claim? Partial indexes, first entry.
SELECT EXISTS (SELECT 1 FROM unified_queue INDEXED BY queue_oldest WHERE ready = 1) OR EXISTS (SELECT 1 FROM unified_queue INDEXED BY queue_suspects WHERE ready = 2)
