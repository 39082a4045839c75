-- stage_document (sqlite): the document a job was admitted for. Index: stages_job.
SELECT d.document_id FROM stages s JOIN documents d ON d.number = s.document
WHERE s.queue_id = ? ORDER BY s.number LIMIT 1
