-- browse_chunks (sqlite): chunks of a version readers see, behind an ordinal. Index: chunks_ordinal.
SELECT k.ordinal, k.span_start, k.span_end, k.tokens, k.page_first, k.page_last, k.headings_json, k.text
FROM versions v JOIN documents d ON d.number = v.document JOIN collections c ON c.collection_id = d.collection_id
  CROSS JOIN chunks k ON k.version_id = v.version_id
WHERE v.version_id = :version AND v.state = 'current' AND v.generation_id = c.generation
  AND d.workspace_id = :workspace AND d.hidden_at IS NULL AND c.removed_at IS NULL AND k.ordinal > :after
ORDER BY k.ordinal LIMIT :limit
