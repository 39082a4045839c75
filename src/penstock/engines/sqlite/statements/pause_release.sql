-- pause_release (sqlite): let go of a portion of what a pause set aside, except what another pause would set aside again
-- at the next claim: that pause's resume lets it go. Index: queue_paused. On Redis each pause has a list of its own.
UPDATE unified_queue SET paused = 0 WHERE rowid IN (
  SELECT q.rowid FROM unified_queue q INDEXED BY queue_paused WHERE q.paused = 1
    AND ((:scope = 'collection' AND q.collection = :name) OR (:scope = 'type' AND q.item_type = :name))
    AND NOT EXISTS (SELECT 1 FROM queue_pauses p WHERE p.lifted = 0
      AND ((p.scope = 'collection' AND p.name = q.collection) OR (p.scope = 'type' AND p.name = q.item_type)))
  LIMIT 2000)
