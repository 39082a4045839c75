-- browse_size (sqlite): a collection's documents, smallest first, behind a place. Index: documents_bytes.
SELECT bytes, document_id, number FROM documents INDEXED BY documents_bytes
WHERE collection_id = :collection AND hidden_at IS NULL AND (bytes, document_id) > (:value, :document)
  AND (:state IS NULL OR state = :state) AND (:name_part IS NULL OR instr(lower(name), :name_part) > 0)
ORDER BY bytes, document_id LIMIT :limit
