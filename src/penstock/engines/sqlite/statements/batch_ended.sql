-- batch_ended (sqlite): how many of these jobs have ended, and how. Primary key, one look each.
SELECT count(*) FILTER (WHERE status = 'done'), count(*) FILTER (WHERE status = 'failed')
FROM unified_queue WHERE queue_id IN (SELECT value FROM json_each(:ids))
