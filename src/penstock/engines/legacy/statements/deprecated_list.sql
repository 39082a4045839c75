-- deprecated_list (legacy): the tables an earlier run marked.
SELECT table_name, deprecated_at FROM legacy_tables_deprecated ORDER BY table_name
