-- feed_bounds (sqlite): the last number of each of these users with its time, and the oldest one kept. Primary keys.
SELECT c.user_id, c.seq, (SELECT e.seq FROM events e WHERE e.user_id = c.user_id ORDER BY e.seq LIMIT 1),
  coalesce((SELECT e.ts FROM events e WHERE e.user_id = c.user_id AND e.seq = c.seq), c.ts)
FROM json_each(:users) p CROSS JOIN event_counters c ON c.user_id = p.value
