-- audit_version_unpurged (sqlite): versions that are gone and owed no purge, neither by themselves nor with their
-- document or generation. Index: the debts' unique one.
SELECT v.version_id, d.document_id, d.name FROM versions v LEFT JOIN documents d ON d.number = v.document
WHERE v.state = 'gone'
  AND NOT EXISTS (SELECT 1 FROM debts WHERE kind = 'purge_version' AND about = CAST(v.version_id AS TEXT))
  AND NOT EXISTS (SELECT 1 FROM debts WHERE kind = 'purge_document' AND about = d.document_id)
  AND NOT EXISTS (SELECT 1 FROM debts WHERE kind = 'purge_generation' AND about = CAST(v.generation_id AS TEXT))
LIMIT :limit
