-- metadata_of (sqlite): the metadata of a document as it lies there, in bytes: they may be no text.
SELECT CAST(metadata_json AS BLOB) FROM documents WHERE document_id = ?
