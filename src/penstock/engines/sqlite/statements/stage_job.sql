-- stage_job (sqlite): where a job stands.
SELECT status, retry_count, item_type, op FROM unified_queue WHERE queue_id = ?
