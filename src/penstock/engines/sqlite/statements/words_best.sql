-- words_best (sqlite): matches by BM25; words of title and headings count twice. Read as far as needed.
SELECT rowid, bm25(words_0, 2.0, 1.0, 1.0) AS cost FROM words_0 WHERE words_0 MATCH :terms ORDER BY cost, rowid
