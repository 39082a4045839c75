-- events_after (sqlite): what a reader missed. Primary key, one range.
SELECT user_id, seq, ts, type, payload_json FROM events WHERE user_id = ? AND seq > ? ORDER BY seq LIMIT ?
