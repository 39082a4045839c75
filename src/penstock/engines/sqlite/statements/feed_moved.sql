-- feed_moved (sqlite): which of these users have later events than the numbers given. Primary key, one look a user.
SELECT c.user_id, p.value, c.seq
FROM json_each(:positions) p CROSS JOIN event_counters c ON c.user_id = p.key
WHERE c.seq > p.value LIMIT :users
