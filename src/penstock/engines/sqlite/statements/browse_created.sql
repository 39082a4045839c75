-- browse_created (sqlite): a collection's documents, oldest first, behind a place. Index: documents_created.
SELECT created_at, document_id, number FROM documents INDEXED BY documents_created
WHERE collection_id = :collection AND hidden_at IS NULL AND (created_at, document_id) > (:value, :document)
  AND (:state IS NULL OR state = :state) AND (:name_part IS NULL OR instr(lower(name), :name_part) > 0)
ORDER BY created_at, document_id LIMIT :limit
