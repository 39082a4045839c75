-- words_remove (sqlite): take out some chunks, given as a JSON list, while their text is still there.
INSERT INTO words_0 (words_0, rowid, lead, text, grams)
SELECT 'delete', chunk_id, lead, text, grams FROM chunks WHERE chunk_id IN (SELECT value FROM json_each(?))
