-- feed_uploads (sqlite): how far uploads of these users are. Index: uploads_due, which holds nothing but unfinished ones.
SELECT w.owner, u.upload_id, u.workspace_id, u.name, u.status, u.done, u.total
FROM uploads u INDEXED BY uploads_due CROSS JOIN workspaces w ON w.workspace_id = u.workspace_id
WHERE u.status = 'uploading' AND w.removed_at IS NULL AND w.owner IN (SELECT value FROM json_each(:users))
