-- upload_due (sqlite): was an upload left by whoever received it? Index: uploads_due.
SELECT EXISTS (SELECT 1 FROM uploads INDEXED BY uploads_due WHERE status = 'uploading' AND due_at <= ?)
