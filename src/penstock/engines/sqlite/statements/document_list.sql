-- document_list (sqlite): a collection's documents by identity. Index: documents_identity.
SELECT document_id, tenant_id, workspace_id, collection_id, source, identity, name, state, branch, title, media, blob, size,
  version_id, chunks, pages, metadata_json, error_stage, error_code, error_message, hidden, created_at, updated_at,
  collection
FROM document_facts
WHERE collection_id = :collection AND hidden_at IS NULL AND identity > :low AND identity < :high
  AND (:source IS NULL OR source = :source)
  AND +workspace_id = :workspace AND NOT hidden
ORDER BY identity, number LIMIT :limit
