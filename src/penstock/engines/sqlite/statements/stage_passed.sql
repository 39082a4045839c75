-- stage_passed (sqlite): the stage of this kind the job has finished already. Index: stages_job.
SELECT stage_id FROM stages WHERE queue_id = ? AND document = ? AND kind = ? AND state = 'success'
ORDER BY number DESC LIMIT 1
