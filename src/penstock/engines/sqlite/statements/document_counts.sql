-- document_counts (sqlite): documents by state. Index: documents_state.
SELECT d.state, count(*) FROM documents d INDEXED BY documents_state CROSS JOIN collections c ON c.collection_id = d.collection_id
WHERE d.collection_id = ? AND d.hidden_at IS NULL AND c.removed_at IS NULL GROUP BY d.state
