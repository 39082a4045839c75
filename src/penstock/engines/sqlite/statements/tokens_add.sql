-- tokens_add (sqlite): a text.
INSERT INTO tokens (rowid, lead, text, grams) VALUES (?, ?, ?, ?)
