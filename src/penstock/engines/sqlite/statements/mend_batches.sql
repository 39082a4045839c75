-- mend_batches (sqlite): batches that were found to have nothing left to wait for have ended, if it is still so.
UPDATE queue_batches SET total = done + failed, ended_at = :now
WHERE batch_id IN (SELECT value FROM json_each(:batches)) AND sealed AND ended_at IS NULL AND NOT EXISTS (
  SELECT 1 FROM queue_batch_members m CROSS JOIN unified_queue q ON q.queue_id = m.queue_id AND q.finished_at IS NULL
  WHERE m.batch_id = queue_batches.batch_id)
