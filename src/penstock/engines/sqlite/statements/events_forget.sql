-- events_forget (sqlite): remove old events, so many a call; numbers are never given again. Index: events_age.
DELETE FROM events WHERE (user_id, seq) IN (
  SELECT user_id, seq FROM events INDEXED BY events_age WHERE ts < :before ORDER BY ts LIMIT :limit)
