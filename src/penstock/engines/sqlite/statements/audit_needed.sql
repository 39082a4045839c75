-- audit_needed (sqlite): bytes that versions in sight or being built, kept parses and uploads lie under, by hash.
-- Indexes: versions_blob, parses_result, documents_upload.
SELECT blob, max(document), max(identity) FROM (
  SELECT v.blob AS blob, d.document_id AS document, d.identity AS identity
  FROM versions v INDEXED BY versions_blob JOIN documents d ON d.number = v.document
  WHERE v.blob > :after AND v.state <> 'gone'
  UNION ALL
  SELECT p.result, NULL, NULL FROM parses p INDEXED BY parses_result WHERE p.result > :after
  UNION ALL
  SELECT substr(u.identity, 17), u.document_id, u.identity FROM documents u INDEXED BY documents_upload
  WHERE u.source = 'upload' AND u.identity > '/upload:/sha256:' || :after AND u.hidden_at IS NULL)
GROUP BY blob ORDER BY blob LIMIT :limit
