-- columns (legacy): a table's columns in order, generated ones too, and their place in the primary key.
SELECT name, pk FROM pragma_table_xinfo(:table) WHERE hidden <> 1 ORDER BY cid
