-- alias_exists (sqlite): has any submit ever joined another job? Primary key, first entry.
SELECT EXISTS (SELECT 1 FROM queue_aliases)
