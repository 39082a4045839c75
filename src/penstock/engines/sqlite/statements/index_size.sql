-- index_size (sqlite): how many chunks readers see in a generation. Index: versions_current.
SELECT coalesce(sum(chunks), 0) FROM versions INDEXED BY versions_current WHERE generation_id = ? AND state = 'current'
