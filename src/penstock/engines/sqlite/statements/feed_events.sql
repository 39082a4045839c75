-- feed_events (sqlite): the next events of these users after the numbers given; numbers have no gaps but where the oldest
-- were forgotten, so counting on from each number bounds each user's share. Primary key, one range a user.
SELECT e.user_id, e.seq, e.ts, e.type, e.payload_json
FROM json_each(:positions) p
  CROSS JOIN events e ON e.user_id = p.key AND e.seq > p.value AND e.seq <= p.value + :limit
