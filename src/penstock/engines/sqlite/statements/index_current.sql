-- index_current (sqlite): the versions readers see in a generation. Index: versions_current, not the table.
SELECT version_id FROM versions INDEXED BY versions_current WHERE generation_id = ? AND state = 'current'
