-- words_add (sqlite): take in a version's chunks with an id higher than that.
INSERT INTO words_0 (rowid, lead, text, grams)
SELECT chunk_id, lead, text, grams FROM chunks WHERE version_id = ? AND chunk_id > ?
