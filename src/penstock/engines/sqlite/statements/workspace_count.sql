-- workspace_count (sqlite): how many workspaces a user has.
SELECT count(*) FROM workspaces WHERE owner = ? AND removed_at IS NULL
