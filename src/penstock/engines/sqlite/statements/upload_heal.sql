-- upload_heal (sqlite): uploads nobody receives any more end. Index: uploads_due.
UPDATE uploads SET status = 'failed', error_code = :code, error_message = :error, due_at = '', updated_at = :now
WHERE upload_id IN (SELECT upload_id FROM uploads INDEXED BY uploads_due
  WHERE status = 'uploading' AND due_at <= :now ORDER BY due_at LIMIT :limit)
RETURNING upload_id
