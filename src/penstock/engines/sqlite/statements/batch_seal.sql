-- batch_seal (sqlite): no more children; it may have ended already.
UPDATE queue_batches SET sealed = 1, ended_at = CASE WHEN done + failed >= total THEN :now END
WHERE batch_id = :batch AND sealed = 0
