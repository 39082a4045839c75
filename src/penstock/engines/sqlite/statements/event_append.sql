-- event_append (sqlite): one event.
INSERT INTO events (user_id, seq, ts, type, payload_json) VALUES (?, ?, ?, ?, ?)
