-- event_number (sqlite): the user's next number.
INSERT INTO event_counters (user_id, seq) VALUES (?, 1) ON CONFLICT (user_id) DO UPDATE SET seq = seq + 1 RETURNING seq
