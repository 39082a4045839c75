-- document_bytes (sqlite): the bytes its latest version was begun with. Index: versions_document.
SELECT v.blob FROM documents d JOIN versions v ON v.document = d.number
WHERE d.document_id = ? ORDER BY v.version_id DESC LIMIT 1
