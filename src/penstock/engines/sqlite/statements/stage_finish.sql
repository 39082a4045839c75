-- stage_finish (sqlite): it worked.
UPDATE stages SET state = 'success', next_run_at = NULL, error_code = NULL, error_message = NULL, updated_at = :now,
  finished_at = :now
WHERE stage_id = :id AND queue_id = :job AND finished_at IS NULL
