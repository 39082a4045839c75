-- index_visible (sqlite): which of some chunks readers see in a generation, and whose they are.
SELECT c.chunk_id, v.document FROM json_each(:chunks) wanted
  CROSS JOIN chunks c ON c.chunk_id = wanted.value
  CROSS JOIN versions v ON v.version_id = c.version_id
WHERE v.generation_id = :generation AND v.state = 'current'
