-- words_best_within (sqlite): the same of some documents alone; the + keeps FTS5 from being asked row by row.
SELECT rowid, bm25(words_0, 2.0, 1.0, 1.0) AS cost FROM words_0 WHERE words_0 MATCH :terms
  AND +rowid IN (SELECT c.chunk_id FROM json_each(:documents) d
    CROSS JOIN versions v ON v.generation_id = :generation AND v.document = d.value AND v.state = 'current'
    CROSS JOIN chunks c ON c.version_id = v.version_id)
ORDER BY cost, rowid
