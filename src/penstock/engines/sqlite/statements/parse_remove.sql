-- parse_remove (sqlite): kept parses of bytes no version has. Index: versions_blob.
DELETE FROM parses WHERE blob = ? AND NOT EXISTS (SELECT 1 FROM versions v WHERE v.blob = parses.blob)
