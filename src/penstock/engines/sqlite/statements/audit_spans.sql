-- audit_spans (sqlite): current versions of generations in use, in the order of their numbers, with the parses of their
-- bytes that were kept when they were published. Index: the primary keys. A document a job is at work on is looked at
-- when the job has ended.
SELECT v.version_id, d.document_id, d.name, (
    SELECT json_group_array(p.result) FROM parses p WHERE p.blob = v.blob AND p.kept_at <= v.published_at)
FROM versions v
  CROSS JOIN generations g ON g.generation_id = v.generation_id
  CROSS JOIN collections c ON c.collection_id = g.collection_id
  CROSS JOIN documents d ON d.number = v.document
WHERE v.version_id > :after AND v.state = 'current' AND c.removed_at IS NULL AND d.hidden_at IS NULL
  AND v.generation_id IN (c.generation, c.building)
  AND NOT EXISTS (SELECT 1 FROM stages s JOIN unified_queue q ON q.queue_id = s.queue_id
    WHERE s.document = d.number AND q.finished_at IS NULL)
ORDER BY v.version_id LIMIT :limit
