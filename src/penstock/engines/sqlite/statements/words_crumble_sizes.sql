-- words_crumble_sizes (sqlite): some sizes in a table nobody reads any more.
DELETE FROM words_0_docsize WHERE id IN (SELECT id FROM words_0_docsize LIMIT ?)
