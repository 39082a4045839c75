-- swap_counts (sqlite): how many documents have a current version in the one generation and in the other.
-- Index: versions_current, counted without touching the table.
SELECT (SELECT count(*) FROM versions INDEXED BY versions_current WHERE generation_id = :old AND state = 'current'),
  (SELECT count(*) FROM versions INDEXED BY versions_current WHERE generation_id = :new AND state = 'current')
