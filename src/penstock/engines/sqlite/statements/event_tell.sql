-- event_tell (sqlite): one event to the owner of a workspace; of one that is removed nothing more is told.
INSERT INTO event_feed (workspace_id, ts, type, payload_json)
SELECT workspace_id, :ts, :type, :payload FROM workspaces WHERE workspace_id = :workspace AND removed_at IS NULL
