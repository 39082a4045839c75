-- adopt_ready (sqlite): does this database hold the queue, the memory of legacy rows, and rows that tell whether they hold
-- their key? A rehearsal migrates nothing, so it may look at an older file.
SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'unified_queue'),
  EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'legacy_rows'),
  EXISTS (SELECT 1 FROM pragma_table_info('unified_queue') WHERE name = 'keyed')
