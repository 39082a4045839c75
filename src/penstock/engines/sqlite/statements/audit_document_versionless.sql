-- audit_document_versionless (sqlite): ingested documents that no reader can see. Indexes: documents_state,
-- versions_current. One built into the generation to come alone is seen after the swap.
SELECT d.document_id, d.name FROM documents d INDEXED BY documents_state
  JOIN collections c ON c.collection_id = d.collection_id
WHERE d.state = 'ingested' AND d.hidden_at IS NULL AND c.removed_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM versions v INDEXED BY versions_current
    WHERE v.generation_id IN (c.generation, c.building) AND v.document = d.number AND v.state = 'current')
LIMIT :limit
