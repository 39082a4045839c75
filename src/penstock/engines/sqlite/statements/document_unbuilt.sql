-- document_unbuilt (sqlite): documents readers see that are not, or only with older bytes, in a generation, and that
-- no job is at work on. Indexes: documents_identity for the order, versions_current and stages_document for the rest.
SELECT document_id, tenant_id, workspace_id, collection_id, source, identity, name, state, branch, title, media, blob, size,
  version_id, chunks, pages, metadata_json, error_stage, error_code, error_message, hidden, created_at, updated_at,
  collection
FROM document_facts
WHERE collection_id = (SELECT collection_id FROM generations WHERE generation_id = :generation) AND hidden_at IS NULL
  AND identity > :low AND version_id IS NOT NULL AND NOT hidden AND NOT EXISTS (
    SELECT 1 FROM versions built INDEXED BY versions_current
    WHERE built.generation_id = :generation AND built.document = document_facts.number AND built.state = 'current'
      AND (built.blob = document_facts.blob OR built.version_id > document_facts.version_id))
  AND NOT EXISTS (SELECT 1 FROM stages s WHERE s.document = document_facts.number AND s.finished_at IS NULL)
ORDER BY identity, number LIMIT :limit
