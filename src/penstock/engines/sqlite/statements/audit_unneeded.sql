-- audit_unneeded (sqlite): which of these blobs neither a version nor a kept parse needs, nor is owed their removal.
-- Indexes: versions_blob, parses_result, the debts' unique one.
SELECT b.value FROM json_each(:blobs) b
WHERE NOT EXISTS (SELECT 1 FROM versions WHERE blob = b.value)
  AND NOT EXISTS (SELECT 1 FROM parses WHERE result = b.value)
  AND NOT EXISTS (SELECT 1 FROM debts WHERE kind = 'free_blob' AND about = b.value)
ORDER BY b.value
