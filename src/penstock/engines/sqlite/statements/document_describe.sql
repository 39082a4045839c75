-- document_describe (sqlite): what parsing told about a document, and of which branch it is now.
UPDATE documents SET branch = coalesce(:branch, branch), title = :title, media = :media, pages = :pages, metadata_json = :metadata, state = 'parsed',
  error_stage = NULL, error_code = NULL, error_message = NULL, updated_at = :now
WHERE number = :number
