-- A ticket that opened a stream leaves a pass: with it the same stream is opened again while the token lives.
ALTER TABLE tickets ADD COLUMN kind TEXT NOT NULL DEFAULT 'ticket' CHECK (kind IN ('ticket', 'pass'));
ALTER TABLE tickets ADD COLUMN issued_at TEXT NOT NULL DEFAULT '';
DROP INDEX tickets_user;
CREATE INDEX tickets_user ON tickets (user_id, kind, issued_at);
