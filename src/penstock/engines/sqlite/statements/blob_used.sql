-- blob_used (sqlite): do a version's bytes, or a kept parse, lie under this blob? Indexes: versions_blob, parses_result.
SELECT EXISTS (SELECT 1 FROM versions WHERE blob = :blob) OR EXISTS (SELECT 1 FROM parses WHERE result = :blob)
