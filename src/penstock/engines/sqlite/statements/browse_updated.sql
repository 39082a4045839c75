-- browse_updated (sqlite): a collection's documents, longest unchanged first, behind a place. Index: documents_updated.
SELECT updated_at, document_id, number FROM documents INDEXED BY documents_updated
WHERE collection_id = :collection AND hidden_at IS NULL AND (updated_at, document_id) > (:value, :document)
  AND (:state IS NULL OR state = :state) AND (:name_part IS NULL OR instr(lower(name), :name_part) > 0)
ORDER BY updated_at, document_id LIMIT :limit
