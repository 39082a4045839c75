-- prune_batches (sqlite): batches that ended long ago.
DELETE FROM queue_batches WHERE ended_at < :before
