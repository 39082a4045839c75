-- swap_missing (sqlite): a document readers see now that is not, or only with older bytes, in the generation to come.
-- Index: versions_current on both sides.
SELECT 1 FROM versions seen INDEXED BY versions_current
WHERE seen.generation_id = :old AND seen.state = 'current' AND NOT EXISTS (
  SELECT 1 FROM versions built INDEXED BY versions_current
  WHERE built.generation_id = :new AND built.document = seen.document AND built.state = 'current'
    AND (built.blob = seen.blob OR built.version_id > seen.version_id))
LIMIT 1
