-- words_drop (sqlite): forget the table of words.
DROP TABLE IF EXISTS words_0
