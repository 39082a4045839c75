-- audit_stage_lost (sqlite): steps that have not ended though their job has, or is not there. Index: stages_unfinished.
SELECT s.stage_id, d.document_id, d.name FROM stages s INDEXED BY stages_unfinished
  LEFT JOIN documents d ON d.number = s.document
WHERE s.finished_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM unified_queue q WHERE q.queue_id = s.queue_id AND q.finished_at IS NULL)
LIMIT :limit
