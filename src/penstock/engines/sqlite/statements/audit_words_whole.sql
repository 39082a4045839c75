-- audit_words_whole (sqlite): compare every word with the text it stands for; an error tells a difference.
INSERT INTO words_0 (words_0, rank) VALUES ('integrity-check', 1)
