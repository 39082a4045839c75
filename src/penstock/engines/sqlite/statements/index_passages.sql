-- index_passages (sqlite): what some chunks say and where, as far as readers see them.
SELECT c.chunk_id, d.document_id, d.name, d.title, d.identity, k.name, c.ordinal, c.span_start, c.span_end, c.text,
  c.headings_json, c.page_first, c.page_last, d.metadata_json, k.collection_id, d.number
FROM json_each(:chunks) wanted
  CROSS JOIN chunks c ON c.chunk_id = wanted.value
  CROSS JOIN versions v ON v.version_id = c.version_id AND v.state = 'current'
  CROSS JOIN documents d ON d.number = v.document AND d.hidden_at IS NULL
  CROSS JOIN collections k ON k.collection_id = d.collection_id AND k.generation = v.generation_id
WHERE k.workspace_id = :workspace AND k.removed_at IS NULL
  AND k.collection_id IN (SELECT value FROM json_each(:collections))
ORDER BY wanted.key
