-- words_size (sqlite): how many chunks the words of a generation are of, seen or not. Index: versions_generation.
SELECT coalesce(sum(chunks), 0) FROM versions WHERE generation_id = ?
