-- barrier_of (sqlite): the tenant deletion that stands before a job, if any.
SELECT queue_id FROM queue_barriers WHERE tenant_id = ? ORDER BY generation LIMIT 1
