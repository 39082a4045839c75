-- Which rows of legacy queues were taken over. It outlives the jobs: a row whose job was pruned is not taken twice.
-- Programs before this migration made the table when they first needed it, so it may be there.

CREATE TABLE IF NOT EXISTS legacy_rows (
  row_id TEXT PRIMARY KEY NOT NULL,   -- the id of the job the row became, or would have become
  joined TEXT,                        -- the job that waited already and stands for it instead
  named TEXT NOT NULL,                -- what the row is about, hashed
  taken_at REAL NOT NULL              -- seconds since the epoch
) WITHOUT ROWID;
