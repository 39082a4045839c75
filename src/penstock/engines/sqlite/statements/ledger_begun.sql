-- ledger_begun (sqlite): which of some entries have an open attempt, and whose it is. Primary keys of each; a submit that
-- joined another job is that job.
SELECT wanted.value, q.queue_id, q.worker_id, q.token FROM json_each(?) wanted CROSS JOIN unified_queue q
  ON q.queue_id = coalesce((SELECT a.queue_id FROM queue_aliases a WHERE a.alias = wanted.value), wanted.value)
    AND q.status = 'in_progress'
