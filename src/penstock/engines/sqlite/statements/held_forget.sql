-- held_forget (sqlite): let go of bytes whose sender never came to an end. Index: held_blobs_until.
DELETE FROM held_blobs WHERE queue_id IN (
  SELECT queue_id FROM held_blobs INDEXED BY held_blobs_until WHERE until IS NOT NULL AND until <= :now LIMIT :limit)
