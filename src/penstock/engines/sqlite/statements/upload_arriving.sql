-- upload_arriving (sqlite): how much has come of each upload of a workspace that has not ended. Index: uploads_due, which
-- holds nothing else.
SELECT upload_id, done FROM uploads INDEXED BY uploads_due WHERE status = 'uploading' AND workspace_id = ?
