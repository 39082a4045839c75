-- job_ahead (sqlite): ready jobs that come before this one, counted up to a limit. Index: queue_ready.
SELECT count(*) FROM (SELECT 1 FROM unified_queue q INDEXED BY queue_ready, unified_queue me
  WHERE me.queue_id = :id AND q.ready = 1 AND (q.rank > me.rank OR (q.rank = me.rank
    AND (q.created_at, q.rowid) < (me.created_at, me.rowid))) LIMIT :limit)
