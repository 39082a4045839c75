-- Answers to requests that may be sent again: the same key gets the same answer, and nothing is done twice.
CREATE TABLE requests (
  number INTEGER PRIMARY KEY AUTOINCREMENT,
  user_id TEXT NOT NULL,
  key TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status INTEGER NOT NULL,
  body BLOB NOT NULL,
  answered_at TEXT NOT NULL
);
CREATE UNIQUE INDEX requests_key ON requests (user_id, key);
CREATE INDEX requests_user ON requests (user_id, number);
CREATE INDEX requests_age ON requests (answered_at);
