-- adopt_remember (sqlite): a legacy row was taken over.
INSERT INTO legacy_rows (row_id, joined, named, taken_at) VALUES (:row, :joined, :named, :at) ON CONFLICT DO NOTHING
