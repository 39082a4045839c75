-- document_some (sqlite): some documents of a collection, hidden or not.
SELECT number FROM documents WHERE collection_id = ? LIMIT ?
