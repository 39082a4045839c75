-- chat_fail (sqlite): an answer ends in an error; without other words those kept so far stay.
UPDATE messages SET status = 'error', content = coalesce(:content, content),
  citations_json = coalesce(:citations, citations_json), usage_json = coalesce(:usage, usage_json),
  metadata_json = coalesce(:metadata, metadata_json), error_code = :code, error_message = :error, owner = NULL, due_at = '',
  stopping = 0, updated_at = :now
WHERE message_id = :message AND owner = :owner AND status IN ('pending', 'running')
