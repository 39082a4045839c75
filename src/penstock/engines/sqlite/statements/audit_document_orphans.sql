-- audit_document_orphans (sqlite): documents not yet deleted whose collection is not there. Index: documents_collection.
SELECT d.document_id, d.name FROM documents d
WHERE d.hidden_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM collections c WHERE c.collection_id = d.collection_id)
LIMIT :limit
