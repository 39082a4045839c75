-- batch_join (sqlite): a job is a child of the batch; once, however often it is said.
INSERT INTO queue_batch_members (queue_id, batch_id) VALUES (?, ?) ON CONFLICT DO NOTHING
