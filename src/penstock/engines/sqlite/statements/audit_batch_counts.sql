-- audit_batch_counts (sqlite): batches with the counts of their kept children: those that wait or run, that are done, that
-- have failed. Children removed long ago are counted by the batch alone. Indexes: the primary keys.
SELECT b.batch_id, b.total, b.done, b.failed, b.sealed, b.ended_at IS NOT NULL, coalesce(k.open, 0), coalesce(k.done, 0),
  coalesce(k.failed, 0), coalesce(k.uncounted, 0)
FROM queue_batches b LEFT JOIN (
  SELECT m.batch_id, sum(q.finished_at IS NULL) AS open, sum(q.status = 'done') AS done, sum(q.status = 'failed') AS failed,
    sum(q.finished_at IS NULL AND q.batched = 0) AS uncounted
  FROM queue_batch_members m CROSS JOIN unified_queue q ON q.queue_id = m.queue_id
  GROUP BY m.batch_id) k ON k.batch_id = b.batch_id
WHERE b.batch_id = coalesce(:batch, b.batch_id)
  AND (b.total <> b.done + b.failed + coalesce(k.open, 0) OR b.done < coalesce(k.done, 0) OR b.failed < coalesce(k.failed, 0)
    OR (b.ended_at IS NOT NULL) <> (b.sealed AND b.done + b.failed >= b.total) OR k.uncounted > 0)
LIMIT :limit
