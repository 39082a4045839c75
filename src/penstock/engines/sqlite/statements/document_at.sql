-- document_at (sqlite): the document of an identity that is not hidden. Index: documents_identity.
SELECT document_id, tenant_id, workspace_id, collection_id, source, identity, name, state, branch, title, media, blob, size,
  version_id, chunks, pages, metadata_json, error_stage, error_code, error_message, hidden, created_at, updated_at,
  collection
FROM document_facts WHERE collection_id = :collection AND identity = :identity AND tenant_id = :tenant AND hidden_at IS NULL
  AND NOT hidden
