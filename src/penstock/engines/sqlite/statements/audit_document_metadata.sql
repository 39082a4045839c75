-- audit_document_metadata (sqlite): documents whose metadata is no JSON object.
SELECT d.document_id, d.name FROM documents d
WHERE d.hidden_at IS NULL AND d.metadata_json <> '{}'
  AND CASE WHEN json_valid(d.metadata_json) THEN json_type(d.metadata_json) ELSE '' END <> 'object'
LIMIT :limit
