-- chunk_remove (sqlite): some chunks, given as a JSON list.
DELETE FROM chunks WHERE chunk_id IN (SELECT value FROM json_each(?))
