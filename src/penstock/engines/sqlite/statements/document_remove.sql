-- document_remove (sqlite): a document nothing is left of.
DELETE FROM documents WHERE number = ?
