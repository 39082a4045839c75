-- words_make (sqlite): the table of words. Its content is the view, so nothing is stored twice.
CREATE VIRTUAL TABLE words_0 USING fts5(lead, text, grams, content='words_0_of', content_rowid='chunk_id',
  tokenize='porter unicode61 remove_diacritics 2')
