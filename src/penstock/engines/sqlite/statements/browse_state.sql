-- browse_state (sqlite): a collection's documents in one state with all they may be sorted by, in no order. Index:
-- documents_state.
SELECT created_at, updated_at, name, bytes, document_id, number FROM documents INDEXED BY documents_state
WHERE collection_id = :collection AND state = :state AND hidden_at IS NULL
  AND (:name_part IS NULL OR instr(lower(name), :name_part) > 0)
LIMIT :limit
