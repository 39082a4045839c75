-- adopt_ready (sqlite): does this database hold the queue, and the memory of legacy rows? A rehearsal migrates nothing,
-- so it may look at an older file.
SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'unified_queue'),
  EXISTS (SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'legacy_rows')
