-- feed_stamp (sqlite): when a number was given; of the last one also where its event is forgotten. Primary keys.
SELECT coalesce((SELECT e.ts FROM events e WHERE e.user_id = :user AND e.seq = :seq),
  (SELECT c.ts FROM event_counters c WHERE c.user_id = :user AND c.seq = :seq))
