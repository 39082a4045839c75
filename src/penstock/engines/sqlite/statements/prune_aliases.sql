-- prune_aliases (sqlite): ids that stood for removed jobs.
DELETE FROM queue_aliases WHERE queue_id = ?
