-- What an ending leaves unfinished is owed its end.

-- A step that failed for good leaves a version half built. Its chunks go; the version itself stays, because it holds
-- the bytes a retry or a replay reads. Whoever pays looks first whether somebody is at work on the document again.
CREATE TRIGGER stage_owes_purge AFTER UPDATE OF state ON stages
WHEN NEW.state = 'failed' AND OLD.state <> 'failed' AND NEW.kind <> 'task'
BEGIN
  INSERT INTO debts (kind, about, due_at, created_at)
  SELECT 'purge_version', CAST(v.version_id AS TEXT), t.stamp, t.stamp
  FROM versions v INDEXED BY versions_building, (SELECT
    CASE WHEN NEW.updated_at GLOB '????-??-??T??:??:??.??????Z' THEN NEW.updated_at
      ELSE strftime('%Y-%m-%dT%H:%M:%f000Z', 'now') END AS stamp) t
  WHERE v.document = NEW.document AND v.state = 'building' AND v.chunks > 0
  ON CONFLICT (kind, about) DO NOTHING;
END;
