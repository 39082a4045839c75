-- manifest_seen (sqlite): which of some chunks are there in a generation, and what their versions are.
SELECT c.chunk_id, v.version_id, v.state FROM json_each(:chunks) wanted
  CROSS JOIN chunks c ON c.chunk_id = wanted.value
  CROSS JOIN versions v ON v.version_id = c.version_id
WHERE v.generation_id = :generation
