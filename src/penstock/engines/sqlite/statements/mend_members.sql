-- mend_members (sqlite): every child of a batch is counted when it ends. A walk through the members.
UPDATE unified_queue SET batched = 1
WHERE batched = 0 AND queue_id IN (SELECT queue_id FROM queue_batch_members WHERE batch_id = ?)
