-- told_to_end (sqlite): why an attempt that holds its job was told to end it. Primary key.
SELECT CAST(cancel_code AS TEXT) FROM unified_queue WHERE queue_id = ? AND token = ?
