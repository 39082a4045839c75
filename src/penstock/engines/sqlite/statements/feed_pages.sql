-- feed_pages (sqlite): those of the users who have later events than the numbers given, with the next ones. Numbers have
-- no gaps but where the oldest were forgotten, so counting on from each bounds each user's share; a user whose next ones
-- are all forgotten has one row without an event. Primary keys.
SELECT c.user_id, c.seq, e.seq, e.ts, e.type, e.payload_json
FROM json_each(:positions) p
  CROSS JOIN event_counters c ON c.user_id = p.key
  LEFT JOIN events e ON e.user_id = c.user_id AND e.seq > p.value AND e.seq <= p.value + :limit
WHERE c.seq > p.value LIMIT :in_all
