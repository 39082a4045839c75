-- held_remove (sqlite): let go of bytes that were being sent; the trigger owes them.
DELETE FROM held_blobs WHERE queue_id = ? AND until IS NOT NULL
