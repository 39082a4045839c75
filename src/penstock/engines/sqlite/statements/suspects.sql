-- suspects (sqlite): jobs that wait for a worker of their own. Index: queue_suspects.
SELECT count(*) FROM (SELECT 1 FROM unified_queue WHERE ready = 2 LIMIT 100)
