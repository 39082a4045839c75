-- schema_taken (sqlite): is there a queue already?
SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = 'unified_queue')
