-- tokens_make (sqlite): a table in memory that takes texts apart as words_make does, and keeps none of them.
CREATE VIRTUAL TABLE tokens USING fts5(lead, text, grams, content='',
  tokenize='porter unicode61 remove_diacritics 2')
