-- carry_find (sqlite): the version readers see of a document, if its vectors are of the model of that other generation.
-- Index: versions_current.
SELECT v.version_id, v.document, v.blob, v.size
FROM documents d JOIN collections c ON c.collection_id = d.collection_id
  JOIN versions v INDEXED BY versions_current ON v.generation_id = c.generation AND v.document = d.number AND v.state = 'current'
  JOIN generations old ON old.generation_id = c.generation
  JOIN generations new ON new.generation_id = c.building
WHERE d.document_id = :document AND d.hidden_at IS NULL AND c.removed_at IS NULL AND c.building = :generation
  AND coalesce(new.model_id, old.model_id) IS old.model_id
