-- ledger_begun (sqlite): which of some entries an attempt has begun and not ended. Primary key of each.
SELECT q.queue_id
FROM json_each(?) wanted CROSS JOIN unified_queue q ON q.queue_id = wanted.value AND q.status = 'in_progress'
