-- workspace_find (sqlite): a user's workspace by id.
SELECT workspace_id, owner, name, created_at FROM workspaces
WHERE workspace_id = :workspace AND owner = :user AND removed_at IS NULL
