-- audit_words (sqlite): how many chunks of a generation have no words, and how many words no chunk. Generation 0 stands
-- for any. Both sides are read in the order of their ids.
SELECT
  (SELECT count(*) FROM words_0_of o WHERE NOT EXISTS (SELECT 1 FROM words_0_docsize w WHERE w.id = o.chunk_id)),
  (SELECT count(*) FROM words_0_docsize w WHERE NOT EXISTS (SELECT 1 FROM words_0_of o WHERE o.chunk_id = w.id))
