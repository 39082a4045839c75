-- manifest_missing (sqlite): which of some chunks, given as a JSON list, are not there. Index: the primary key.
SELECT wanted.value FROM json_each(:chunks) wanted
WHERE NOT EXISTS (SELECT 1 FROM chunks c WHERE c.chunk_id = wanted.value)
