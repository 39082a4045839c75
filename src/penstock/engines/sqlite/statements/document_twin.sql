-- document_twin (sqlite): another document that has the identity already. Index: documents_identity.
SELECT other.document_id FROM documents mine JOIN documents other ON other.collection_id = mine.collection_id
  AND other.identity = :identity AND other.tenant_id = mine.tenant_id AND other.hidden_at IS NULL
WHERE mine.number = :number AND other.number <> mine.number
