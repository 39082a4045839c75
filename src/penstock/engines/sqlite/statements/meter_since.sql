-- meter_since (sqlite): jobs inserted after that row, by rank. The table's own b-tree, its end; rank's two columns stand
-- before the payload, so no long row is read to its end.
SELECT CASE op WHEN 'delete' THEN 10 ELSE priority END AS rank, count(*) FROM unified_queue WHERE rowid > ? GROUP BY 1
