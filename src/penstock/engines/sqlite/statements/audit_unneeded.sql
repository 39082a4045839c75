-- audit_unneeded (sqlite): which of these blobs no version, kept parse, upload or job that brought them needs, nor is owed
-- their removal. Indexes: versions_blob, parses_result, documents_upload, held_blobs_blob, the debts' unique one.
SELECT b.value FROM json_each(:blobs) b
WHERE NOT EXISTS (SELECT 1 FROM versions WHERE blob = b.value)
  AND NOT EXISTS (SELECT 1 FROM parses WHERE result = b.value)
  AND NOT EXISTS (SELECT 1 FROM documents INDEXED BY documents_upload
    WHERE source = 'upload' AND identity = '/upload:/sha256:' || b.value)
  AND NOT EXISTS (SELECT 1 FROM held_blobs WHERE blob = b.value)
  AND NOT EXISTS (SELECT 1 FROM debts WHERE kind = 'free_blob' AND about = b.value)
ORDER BY b.value
