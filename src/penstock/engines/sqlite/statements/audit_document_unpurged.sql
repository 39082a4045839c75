-- audit_document_unpurged (sqlite): hidden documents that are owed no purge, neither alone nor with their collection.
SELECT d.document_id, d.name FROM documents d LEFT JOIN collections c ON c.collection_id = d.collection_id
WHERE d.hidden_at IS NOT NULL AND c.removed_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM debts WHERE kind = 'purge_document' AND about = d.document_id)
LIMIT :limit
