-- parse_sweep (sqlite): kept parses of bytes that no version has for long. Indexes: parses_age, versions_blob.
DELETE FROM parses WHERE (blob, parser) IN (SELECT p.blob, p.parser FROM parses p
  WHERE p.kept_at < :before AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.blob = p.blob) LIMIT :limit)
RETURNING blob
