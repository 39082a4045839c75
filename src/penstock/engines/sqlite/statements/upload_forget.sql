-- upload_forget (sqlite): some that ended long ago. Index: uploads_ended.
DELETE FROM uploads WHERE upload_id IN (SELECT upload_id FROM uploads INDEXED BY uploads_ended
  WHERE status <> 'uploading' AND updated_at <= :before ORDER BY updated_at LIMIT :limit)
