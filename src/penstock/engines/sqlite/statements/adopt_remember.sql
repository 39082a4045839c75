-- adopt_remember (sqlite): a legacy row was taken over, by a job of its own or by one that it joined.
INSERT INTO legacy_rows (row_id, joined, named, taken_at) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING
