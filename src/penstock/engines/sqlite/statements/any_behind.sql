-- any_behind (sqlite): does any job wait for another one of its subject, or for a tenant deletion? Partial index, one look.
SELECT EXISTS (SELECT 1 FROM unified_queue WHERE behind IS NOT NULL) OR EXISTS (SELECT 1 FROM queue_barriers)
