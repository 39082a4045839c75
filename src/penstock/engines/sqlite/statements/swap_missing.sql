-- swap_missing (sqlite): documents readers see now that are not, or only with older bytes, in the generation to come,
-- but for those named in :without, a JSON list, that no job is at work on. Indexes: versions_current on both sides,
-- stages_document.
SELECT d.document_id FROM versions seen INDEXED BY versions_current JOIN documents d ON d.number = seen.document
WHERE seen.generation_id = :old AND seen.state = 'current' AND NOT EXISTS (
  SELECT 1 FROM versions built INDEXED BY versions_current
  WHERE built.generation_id = :new AND built.document = seen.document AND built.state = 'current'
    AND (built.blob = seen.blob OR built.version_id > seen.version_id))
  AND (d.document_id NOT IN (SELECT value FROM json_each(:without)) OR EXISTS (
    SELECT 1 FROM stages s WHERE s.document = d.number AND s.finished_at IS NULL))
LIMIT 1
