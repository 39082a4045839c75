-- words_count (sqlite): how many chunks hold a term, counted no further than matters.
SELECT count(*) FROM (SELECT 1 FROM words_0 WHERE words_0 MATCH ? LIMIT ?)
