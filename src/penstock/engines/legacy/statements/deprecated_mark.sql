-- deprecated_mark (legacy): a table is deprecated since the first run; later runs only bring the counts up to date.
INSERT INTO legacy_tables_deprecated (table_name, deprecated_at, migrated_rows, skipped_rows)
VALUES (:table, :at, :migrated, :skipped)
ON CONFLICT (table_name) DO UPDATE SET migrated_rows = excluded.migrated_rows, skipped_rows = excluded.skipped_rows
WHERE (migrated_rows, skipped_rows) <> (excluded.migrated_rows, excluded.skipped_rows)
