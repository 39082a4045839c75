-- audit_document_strays (sqlite): documents that say another workspace than their collection and tenant belong to: its
-- readers would not find them, and those of the other might.
SELECT d.document_id, d.name FROM documents d JOIN collections c ON c.collection_id = d.collection_id
WHERE d.hidden_at IS NULL AND c.removed_at IS NULL AND d.workspace_id <> c.workspace_id
LIMIT :limit
