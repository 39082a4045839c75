-- batch_find (sqlite): one batch's counts.
SELECT batch_id, parent, total, done, failed, sealed, created_at, ended_at FROM queue_batches WHERE batch_id = ?
