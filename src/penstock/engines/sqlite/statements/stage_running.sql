-- stage_running (sqlite): the attempt works on it.
UPDATE stages SET state = 'running', updated_at = :now WHERE stage_id = :id AND state <> 'running'
