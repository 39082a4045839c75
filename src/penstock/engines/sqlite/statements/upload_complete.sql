-- upload_complete (sqlite): it is taken in, also where somebody thought that its receiver was gone.
UPDATE uploads SET status = 'completed', done = max(done, :done), document_id = :document, error_code = NULL,
  error_message = NULL, due_at = '', updated_at = :now
WHERE upload_id = :id AND status <> 'completed'
