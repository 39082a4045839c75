-- mend_stage (sqlite): end a step whose job has ended; the triggers tell its document.
UPDATE stages SET state = 'failed', error_code = 'ERR_BROKEN', error_message = 'its job ended without it',
  updated_at = :now, finished_at = :now
WHERE stage_id = :id AND finished_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM unified_queue q WHERE q.queue_id = stages.queue_id AND q.finished_at IS NULL)
