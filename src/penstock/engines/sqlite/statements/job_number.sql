-- job_number (sqlite): a job's row number. Primary key.
SELECT rowid FROM unified_queue WHERE queue_id = :id
