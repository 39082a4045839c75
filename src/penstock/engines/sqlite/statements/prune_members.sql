-- prune_members (sqlite): removed jobs leave their batches; the counts stay.
DELETE FROM queue_batch_members WHERE queue_id = ?
