-- events_forget (sqlite): remove old events and whatever stands before them in their user's log, so many a call; numbers
-- are never given again. By time alone a clock that was wrong for a while would leave a gap in the middle. A portion that
-- is cut short leaves the end of a user's share, for each is read in order. Index: events_age, then the primary key.
DELETE FROM events WHERE (user_id, seq) IN (
  SELECT e.user_id, e.seq
  FROM (SELECT user_id, max(seq) AS last
      FROM (SELECT user_id, seq FROM events INDEXED BY events_age WHERE ts < :before ORDER BY ts LIMIT :limit)
      GROUP BY user_id) old
    CROSS JOIN events e ON e.user_id = old.user_id AND e.seq <= old.last
  LIMIT :limit)
