-- barrier_any (sqlite): is any tenant under deletion? A small table.
SELECT EXISTS (SELECT 1 FROM queue_barriers)
