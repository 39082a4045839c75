-- words_crumble_data (sqlite): some pages of a table nobody reads any more.
DELETE FROM words_0_data WHERE id IN (SELECT id FROM words_0_data LIMIT ?)
