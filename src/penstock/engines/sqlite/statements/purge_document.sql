-- purge_document (sqlite): a hidden document's number.
SELECT number FROM documents WHERE document_id = ? AND hidden_at IS NOT NULL
