-- feed_gone (sqlite): those of these workspaces that are removed. Primary key.
SELECT w.workspace_id FROM json_each(:workspaces) p CROSS JOIN workspaces w ON w.workspace_id = p.value
WHERE w.removed_at IS NOT NULL
