-- stage_supersede (sqlite): the job became another one before it came to this step.
UPDATE stages SET state = 'failed', error_code = 'ERR_SUPERSEDED',
  error_message = 'a later request on the same object took its place', updated_at = :now, finished_at = :now
WHERE stage_id = :id AND finished_at IS NULL
