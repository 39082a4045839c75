-- Tickets: good once, in place of a token. Only hashes are kept, so a copy of this table opens nothing.
CREATE TABLE tickets (
  ticket_hash TEXT PRIMARY KEY NOT NULL,
  user_id TEXT NOT NULL,
  role TEXT NOT NULL,
  expires_at TEXT NOT NULL,
  proof_expires_at TEXT
) WITHOUT ROWID;
CREATE INDEX tickets_age ON tickets (expires_at);
CREATE INDEX tickets_user ON tickets (user_id, expires_at);
