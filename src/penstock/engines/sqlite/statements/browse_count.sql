-- browse_count (sqlite): how many documents of a collection are in a state, as far as :limit. Index: documents_state.
SELECT count(*) FROM (SELECT 1 FROM documents INDEXED BY documents_state
  WHERE collection_id = :collection AND state = :state AND hidden_at IS NULL LIMIT :limit)
