-- told_to_end (sqlite): why an attempt that holds its job was told to end it. Primary key.
SELECT cancel_code FROM unified_queue WHERE queue_id = ? AND token = ?
