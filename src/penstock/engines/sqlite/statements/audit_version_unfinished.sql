-- audit_version_unfinished (sqlite): versions half built that no job is at work on, that hold chunks and are owed no
-- purge, neither by themselves nor with their document or generation. Indexes: versions_building, stages_document.
SELECT v.version_id, d.document_id, d.name FROM versions v INDEXED BY versions_building
  JOIN documents d ON d.number = v.document
WHERE v.state = 'building' AND EXISTS (SELECT 1 FROM chunks k WHERE k.version_id = v.version_id)
  AND NOT EXISTS (SELECT 1 FROM stages s JOIN unified_queue q ON q.queue_id = s.queue_id
    WHERE s.document = v.document AND s.kind <> 'task' AND q.finished_at IS NULL)
  AND NOT EXISTS (SELECT 1 FROM debts WHERE kind = 'purge_version' AND about = CAST(v.version_id AS TEXT))
  AND NOT EXISTS (SELECT 1 FROM debts WHERE kind = 'purge_document' AND about = d.document_id)
  AND NOT EXISTS (SELECT 1 FROM debts WHERE kind = 'purge_generation' AND about = CAST(v.generation_id AS TEXT))
LIMIT :limit
