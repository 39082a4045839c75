-- batch_open (sqlite): a new batch; a parent that opens its own again has it already.
INSERT INTO queue_batches (batch_id, parent, created_at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING
