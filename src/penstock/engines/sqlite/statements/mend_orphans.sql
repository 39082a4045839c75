-- mend_orphans (sqlite): remove some chunks of a version that is not there.
DELETE FROM chunks WHERE chunk_id IN (SELECT chunk_id FROM chunks WHERE version_id = :version LIMIT :limit)
  AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.version_id = :version)
