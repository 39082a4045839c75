-- document_counts_all (sqlite): documents of each collection of a workspace by state. Indexes: collections_name,
-- documents_state.
SELECT d.collection_id, d.state, count(*)
FROM collections c CROSS JOIN documents d INDEXED BY documents_state ON d.collection_id = c.collection_id
WHERE c.workspace_id = ? AND c.removed_at IS NULL AND d.hidden_at IS NULL GROUP BY d.collection_id, d.state
