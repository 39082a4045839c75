-- workspace_list (sqlite): a user's workspaces; their ids sort by age.
SELECT workspace_id, owner, name, created_at FROM workspaces
WHERE owner = ? AND removed_at IS NULL ORDER BY workspace_id
