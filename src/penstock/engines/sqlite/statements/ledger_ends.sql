-- ledger_ends (sqlite): how those of some entries ended that have. Primary key of each.
SELECT q.queue_id, q.status, q.error_code, q.error_message
FROM json_each(?) wanted CROSS JOIN unified_queue q ON q.queue_id = wanted.value AND q.finished_at IS NOT NULL
