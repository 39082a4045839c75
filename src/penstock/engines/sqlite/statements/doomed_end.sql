-- doomed_end (sqlite): end jobs whose collection is gone, so many a call. Index: queue_doomed.
UPDATE unified_queue SET status = 'failed', finished_at = :now, updated_at = :now, behind = NULL, next_run_at = NULL,
  paused = 0, keyed = 0, parked_since = NULL, error_code = 'ERR_COLLECTION_UNKNOWN',
  error_message = 'the collection was deleted', last_error_at = :now
WHERE rowid IN (SELECT rowid FROM unified_queue INDEXED BY queue_doomed WHERE paused = 2 LIMIT :limit)
