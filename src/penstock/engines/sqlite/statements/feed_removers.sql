-- feed_removers (sqlite): those of these users who have removed a workspace. Index: workspaces_gone.
SELECT value FROM json_each(:users)
WHERE EXISTS (SELECT 1 FROM workspaces w INDEXED BY workspaces_gone WHERE w.owner = value AND w.removed_at IS NOT NULL)
