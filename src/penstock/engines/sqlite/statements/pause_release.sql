-- pause_release (sqlite): let go of a portion of what a pause set aside. Index: queue_paused.
UPDATE unified_queue SET paused = 0 WHERE rowid IN (
  SELECT rowid FROM unified_queue INDEXED BY queue_paused WHERE paused = 1
    AND ((:scope = 'collection' AND collection = :name) OR (:scope = 'type' AND item_type = :name)) LIMIT 2000)
