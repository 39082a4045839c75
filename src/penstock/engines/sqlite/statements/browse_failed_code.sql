-- browse_failed_code (sqlite): those with one code; no other is looked at. Indexes: collections_name, documents_failed.
SELECT f.document_id, f.tenant_id, f.workspace_id, f.collection_id, f.source, f.identity, f.name, f.state, f.branch, f.title,
  f.media, f.blob, f.size, f.version_id, f.chunks, f.pages, f.metadata_json, f.error_stage, f.error_code, f.error_message,
  f.hidden, f.created_at, f.updated_at, f.collection, f.number
FROM (
  SELECT d.number FROM collections c CROSS JOIN documents d INDEXED BY documents_failed ON d.collection_id = c.collection_id
  WHERE c.workspace_id = :workspace AND c.removed_at IS NULL AND c.name >= :after_collection
    AND (:collection IS NULL OR c.collection_id = :collection) AND d.state = 'error' AND d.hidden_at IS NULL
    AND d.error_code = :code
    AND d.identity >= CASE WHEN c.name = :after_collection THEN :after_identity ELSE '' END
    AND (c.name > :after_collection OR (d.identity, d.number) > (:after_identity,
      coalesce((SELECT a.number FROM documents a WHERE a.document_id = :after), 0)))
  ORDER BY c.name, d.identity, d.number LIMIT :limit) p
  CROSS JOIN document_facts f ON f.number = p.number
ORDER BY f.collection, f.identity, f.number
