-- browse_name_down (sqlite): a collection's documents, by name, from the end, behind a place. Index: documents_name.
SELECT name, document_id, number FROM documents INDEXED BY documents_name
WHERE collection_id = :collection AND hidden_at IS NULL AND name COLLATE NOCASE <= :value
  AND (name COLLATE NOCASE < :value OR document_id < :document)
  AND (:state IS NULL OR state = :state) AND (:name_part IS NULL OR instr(lower(name), :name_part) > 0)
ORDER BY name COLLATE NOCASE DESC, document_id DESC LIMIT :limit
