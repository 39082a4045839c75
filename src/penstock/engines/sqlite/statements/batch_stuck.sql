-- batch_stuck (sqlite): some batches that wait for children of which none is left, as REPLACE leaves them. Few are looked at,
-- for each is a walk through the members' primary key, from the newest on: what is left to do is found there soon.
SELECT b.batch_id FROM (SELECT batch_id FROM queue_batches WHERE sealed AND ended_at IS NULL ORDER BY random() LIMIT 8) b
WHERE (
  SELECT m.queue_id FROM queue_batch_members m
    CROSS JOIN unified_queue q ON q.queue_id = m.queue_id AND q.finished_at IS NULL
  WHERE m.batch_id = b.batch_id ORDER BY m.queue_id DESC LIMIT 1) IS NULL
