-- stage_afresh (sqlite): retries are counted per stage, so the job gets its own back.
UPDATE unified_queue SET retry_count = 0, crashes = 0, parked_since = NULL, error_code = NULL, error_message = NULL,
  last_error_at = NULL
WHERE queue_id = :job AND token = :token
