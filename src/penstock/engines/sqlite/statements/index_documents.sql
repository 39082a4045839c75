-- index_documents (sqlite): those documents of a collection that a scope's filters leave. Index: documents_identity.
SELECT d.number FROM documents d
WHERE d.collection_id = :collection AND d.hidden_at IS NULL AND d.identity >= :low AND d.identity < :high
  AND (:path IS NULL OR (d.source = 'file' AND (d.identity = :path OR d.identity > :path || '/')))
  AND (:metadata IS NULL OR (json_valid(d.metadata_json) AND NOT EXISTS (
    SELECT 1 FROM json_each(:metadata) wanted WHERE NOT EXISTS (
      SELECT 1 FROM json_each(d.metadata_json) held
      WHERE held.key = wanted.key AND (
        (held.value IS wanted.value
          AND (held.type IN ('true', 'false')) = (wanted.type IN ('true', 'false')))
        OR (held.type = 'array' AND wanted.type <> 'array'
          AND EXISTS (SELECT 1 FROM json_each(held.value) one WHERE one.value IS wanted.value)))))))
