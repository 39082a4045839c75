-- blob_used (sqlite): do a version, a kept parse, an upload or a job that brought them need these bytes? Indexes:
-- versions_blob, parses_result, documents_upload, held_blobs_blob.
SELECT EXISTS (SELECT 1 FROM versions WHERE blob = :blob) OR EXISTS (SELECT 1 FROM parses WHERE result = :blob)
  OR EXISTS (SELECT 1 FROM documents INDEXED BY documents_upload
    WHERE source = 'upload' AND identity = '/upload:/sha256:' || :blob)
  OR EXISTS (SELECT 1 FROM held_blobs WHERE blob = :blob)
