-- ledger_ids (sqlite): the ids of entries by where they stand, as they are named; ended ones are left out. Row numbers.
SELECT q.queue_id FROM json_each(?) wanted CROSS JOIN unified_queue q ON q.rowid = wanted.value
WHERE q.finished_at IS NULL ORDER BY wanted.key
