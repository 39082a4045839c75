-- job_held_back (sqlite): is anything paused or under deletion? Two small tables.
SELECT EXISTS (SELECT 1 FROM queue_pauses WHERE lifted = 0) OR EXISTS (SELECT 1 FROM queue_barriers)
