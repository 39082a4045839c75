-- audit_version_orphans (sqlite): versions not yet gone whose document is not there, unless their generation is purged
-- as a whole. Index: versions_document.
SELECT v.version_id FROM versions v
WHERE v.state <> 'gone' AND NOT EXISTS (SELECT 1 FROM documents d WHERE d.number = v.document)
  AND NOT EXISTS (SELECT 1 FROM debts WHERE kind = 'purge_generation' AND about = CAST(v.generation_id AS TEXT))
LIMIT :limit
