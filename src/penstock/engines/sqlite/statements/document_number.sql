-- document_number (sqlite): a document's number, collection, and whether it is hidden.
SELECT d.number, d.collection_id, d.hidden_at IS NOT NULL OR c.removed_at IS NOT NULL
FROM documents d JOIN collections c ON c.collection_id = d.collection_id WHERE d.document_id = ?
