-- upload_fail (sqlite): it will not be taken in.
UPDATE uploads SET status = 'failed', error_code = :code, error_message = :error, due_at = '', updated_at = :now
WHERE upload_id = :id AND status = 'uploading'
