-- feed_progress (sqlite): how far running stages of these users' documents are. Index: idx_unified_queue_worker, which
-- holds nothing but running jobs.
SELECT w.owner, s.stage_id, s.kind, d.document_id, d.workspace_id, q.progress_done, q.progress_total
FROM unified_queue q INDEXED BY idx_unified_queue_worker
  CROSS JOIN stages s INDEXED BY stages_unfinished ON s.queue_id = q.queue_id
  CROSS JOIN documents d ON d.number = s.document
  CROSS JOIN workspaces w ON w.workspace_id = d.workspace_id
WHERE q.status = 'in_progress' AND q.worker_id IS NOT NULL AND q.progress_done IS NOT NULL AND s.finished_at IS NULL
  AND s.state = 'running' AND d.hidden_at IS NULL AND w.removed_at IS NULL
  AND w.owner IN (SELECT value FROM json_each(:users))
