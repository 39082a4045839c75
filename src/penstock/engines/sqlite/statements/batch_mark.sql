-- batch_mark (sqlite): an existing job counts for a batch from now on.
UPDATE unified_queue SET batched = 1 WHERE queue_id = ? AND batched = 0
