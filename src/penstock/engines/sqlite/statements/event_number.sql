-- event_number (sqlite): the user's next number, and when it was given.
INSERT INTO event_counters (user_id, seq, ts) VALUES (?, 1, ?)
ON CONFLICT (user_id) DO UPDATE SET seq = seq + 1, ts = excluded.ts RETURNING seq
