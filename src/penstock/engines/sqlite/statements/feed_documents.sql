-- feed_documents (sqlite): a user's documents that have not ended. Indexes: workspaces_owner, documents_state.
SELECT d.document_id, d.workspace_id, c.name, d.name, d.state
FROM workspaces w INDEXED BY workspaces_owner
  CROSS JOIN collections c ON c.workspace_id = w.workspace_id AND c.removed_at IS NULL
  CROSS JOIN documents d INDEXED BY documents_state ON d.collection_id = c.collection_id
WHERE w.owner = :user AND w.removed_at IS NULL AND d.state IN ('pending', 'parsed') AND d.hidden_at IS NULL
LIMIT :limit
