-- mend_counts (sqlite): a batch says what its children say, and has ended if they have. Primary key.
UPDATE queue_batches SET total = :total, done = :done, failed = :failed,
  ended_at = CASE WHEN sealed AND :done + :failed >= :total THEN coalesce(ended_at, :now) END
WHERE batch_id = :batch
