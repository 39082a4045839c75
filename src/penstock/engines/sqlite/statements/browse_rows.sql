-- browse_rows (sqlite): documents by their numbers.
SELECT document_id, tenant_id, workspace_id, collection_id, source, identity, name, state, branch, title, media, blob, size,
  version_id, chunks, pages, metadata_json, error_stage, error_code, error_message, hidden, created_at, updated_at,
  collection, number
FROM document_facts WHERE number IN (SELECT value FROM json_each(:numbers))
