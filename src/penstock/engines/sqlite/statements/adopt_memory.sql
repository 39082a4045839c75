-- adopt_memory (sqlite): which legacy rows were taken over; made by the first migration from a legacy queue, so that a
-- database that never saw one has no such table. It outlives the jobs: a row whose job was pruned is not taken twice.
CREATE TABLE IF NOT EXISTS legacy_rows (
  row_id TEXT PRIMARY KEY NOT NULL,   -- the id of the job the row became, or would have become
  joined TEXT,                        -- the job that waited already and stands for it instead
  named TEXT NOT NULL,                -- what the row is about, hashed
  taken_at REAL NOT NULL              -- seconds since the epoch
) WITHOUT ROWID
