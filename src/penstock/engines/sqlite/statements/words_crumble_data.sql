-- words_crumble_data (sqlite): some pages of a table nobody reads any more. The first ten ids are FTS5's own head of
-- the table: without it a later connection could not even drop it.
DELETE FROM words_0_data WHERE id IN (SELECT id FROM words_0_data WHERE id > 10 LIMIT ?)
