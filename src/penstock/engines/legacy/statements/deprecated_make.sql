-- deprecated_make (legacy): where the file says which of its tables were migrated.
CREATE TABLE IF NOT EXISTS legacy_tables_deprecated (
  table_name TEXT PRIMARY KEY NOT NULL,
  deprecated_at TEXT NOT NULL,
  migrated_rows INTEGER NOT NULL,
  skipped_rows INTEGER NOT NULL
)
