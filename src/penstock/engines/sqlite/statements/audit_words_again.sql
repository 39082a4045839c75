-- audit_words_again (sqlite): make the words of a generation anew from its chunks.
INSERT INTO words_0 (words_0) VALUES ('rebuild')
