-- audit_version_chunks (sqlite): current versions that have not exactly the chunks 0 to n-1. Indexes: versions_current,
-- chunks_ordinal. Only of generations in use: one that is being purged has lost some of its chunks already, and a
-- document a job is at work on is looked at when the job has ended.
SELECT v.version_id, d.document_id, d.name, v.chunks, count(k.chunk_id)
FROM collections c
  JOIN versions v INDEXED BY versions_current ON v.generation_id IN (c.generation, c.building) AND v.state = 'current'
  JOIN documents d ON d.number = v.document
  LEFT JOIN chunks k ON k.version_id = v.version_id
WHERE c.removed_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM stages s JOIN unified_queue q ON q.queue_id = s.queue_id
    WHERE s.document = d.number AND q.finished_at IS NULL)
GROUP BY v.version_id
HAVING count(k.chunk_id) <> v.chunks OR coalesce(max(k.ordinal), -1) <> v.chunks - 1
  OR coalesce(min(k.ordinal), 0) <> 0
LIMIT :limit
