-- purge_version (sqlite): a version's generation and state, and whether a job is at work on its document. Indexes: the
-- primary keys, stages_document.
SELECT v.generation_id, v.state, EXISTS (SELECT 1 FROM stages s JOIN unified_queue q ON q.queue_id = s.queue_id
  WHERE s.document = v.document AND s.kind <> 'task' AND q.finished_at IS NULL)
FROM versions v WHERE v.version_id = ?
