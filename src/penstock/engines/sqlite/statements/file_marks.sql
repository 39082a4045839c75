-- file_marks (sqlite): how known files looked, ingested ones only. Index: documents_identity, one look each.
SELECT identity, coalesce(mark, '') FROM documents
WHERE collection_id = :collection AND identity IN (SELECT value FROM json_each(:identities)) AND tenant_id = :tenant
  AND hidden_at IS NULL AND state = 'ingested'
