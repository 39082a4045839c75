-- audit_chunk_orphans (sqlite): versions that are not there and still have chunks. Index: chunks_ordinal.
SELECT k.version_id, count(*) FROM chunks k
WHERE NOT EXISTS (SELECT 1 FROM versions v WHERE v.version_id = k.version_id)
GROUP BY k.version_id LIMIT :limit
