-- swap_coverage (sqlite): how many documents readers see now, and how many of them are in the generation to come.
-- Index: versions_current on both sides.
SELECT count(*), coalesce(sum(EXISTS (
  SELECT 1 FROM versions built INDEXED BY versions_current
  WHERE built.generation_id = :new AND built.document = seen.document AND built.state = 'current'
    AND (built.blob = seen.blob OR built.version_id > seen.version_id))), 0)
FROM versions seen INDEXED BY versions_current JOIN documents d ON d.number = seen.document
WHERE seen.generation_id = :old AND seen.state = 'current'
