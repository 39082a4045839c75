-- By what a reader knows the log again: the time of his last event, and the file the numbers were given in.
--
-- The time of a user's last event stays known when the event itself is forgotten. A file that is not the one remembered
-- here is a copy that was put back: numbers jump on opening it, so that none is given a second time.
ALTER TABLE event_counters ADD COLUMN ts TEXT;
UPDATE event_counters SET ts = (
  SELECT e.ts FROM events e WHERE e.user_id = event_counters.user_id AND e.seq = event_counters.seq);

DROP TRIGGER event_feed_append;
CREATE TRIGGER event_feed_append INSTEAD OF INSERT ON event_feed
BEGIN
  INSERT INTO event_counters (user_id, seq, ts)
  SELECT owner, 1, CASE WHEN NEW.ts GLOB '????-??-??T??:??:??.??????Z' THEN NEW.ts
      ELSE strftime('%Y-%m-%dT%H:%M:%f000Z', 'now') END
  FROM workspaces WHERE workspace_id = NEW.workspace_id
  ON CONFLICT (user_id) DO UPDATE SET seq = seq + 1, ts = excluded.ts;
  INSERT INTO events (user_id, seq, ts, type, payload_json)
  SELECT n.user_id, n.seq, n.ts, NEW.type, NEW.payload_json
  FROM workspaces w JOIN event_counters n ON n.user_id = w.owner WHERE w.workspace_id = NEW.workspace_id;
END;

CREATE TABLE event_file (file TEXT PRIMARY KEY NOT NULL) WITHOUT ROWID;
