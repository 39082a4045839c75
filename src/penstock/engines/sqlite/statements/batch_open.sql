-- batch_open (sqlite): a new batch.
INSERT INTO queue_batches (batch_id, parent, created_at) VALUES (?, ?, ?)
