-- document_bytes (sqlite): the bytes its latest version was begun with, else those it was sent with. Index:
-- versions_document.
SELECT coalesce((SELECT v.blob FROM versions v WHERE v.document = d.number ORDER BY v.version_id DESC LIMIT 1),
  CASE d.source WHEN 'upload' THEN substr(d.identity, 17) END)
FROM documents d WHERE d.document_id = ?
