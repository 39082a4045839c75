-- claim_oldest (sqlite): the places of the longest-waiting ready jobs of all. Index: queue_oldest alone.
SELECT created_at, rowid FROM unified_queue INDEXED BY queue_oldest
WHERE ready = 1 AND (created_at, rowid) > (?, ?)
ORDER BY created_at, rowid LIMIT ?
