-- The log of events, numbered per user, and the local user and workspace that own what comes without a sign-in.

CREATE TABLE users (
  user_id TEXT PRIMARY KEY NOT NULL,
  created_at TEXT NOT NULL
) WITHOUT ROWID;
CREATE TABLE workspaces (
  workspace_id TEXT PRIMARY KEY NOT NULL,
  owner TEXT NOT NULL REFERENCES users (user_id),
  name TEXT NOT NULL,
  created_at TEXT NOT NULL
) WITHOUT ROWID;
INSERT INTO users VALUES ('00000000-0000-4000-8000-000000000001', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));
INSERT INTO workspaces VALUES ('00000000-0000-4000-8000-000000000002', '00000000-0000-4000-8000-000000000001',
  'local', strftime('%Y-%m-%dT%H:%M:%fZ', 'now'));

CREATE TABLE events (
  user_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  ts TEXT NOT NULL,
  type TEXT NOT NULL,
  payload_json TEXT NOT NULL,
  PRIMARY KEY (user_id, seq)
) WITHOUT ROWID;
CREATE INDEX events_age ON events (ts);
CREATE TABLE event_counters (
  user_id TEXT PRIMARY KEY NOT NULL,
  seq INTEGER NOT NULL
) WITHOUT ROWID;
