-- mend_workspace (sqlite): a document belongs to the workspace of its collection.
UPDATE documents SET workspace_id = (
  SELECT c.workspace_id FROM collections c WHERE c.collection_id = documents.collection_id)
WHERE document_id = :document AND hidden_at IS NULL
  AND EXISTS (SELECT 1 FROM collections c WHERE c.collection_id = documents.collection_id)
