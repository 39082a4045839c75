-- audit_needed (sqlite): bytes that versions in sight or being built, and kept parses, lie under, by hash.
-- Indexes: versions_blob, parses_result.
SELECT blob, max(document), max(identity) FROM (
  SELECT v.blob AS blob, d.document_id AS document, d.identity AS identity
  FROM versions v INDEXED BY versions_blob JOIN documents d ON d.number = v.document
  WHERE v.blob > :after AND v.state <> 'gone'
  UNION ALL
  SELECT p.result, NULL, NULL FROM parses p INDEXED BY parses_result WHERE p.result > :after)
GROUP BY blob ORDER BY blob LIMIT :limit
