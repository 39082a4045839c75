-- mend_vectors (sqlite): forget vectors of the wrong length that a version's chunks use, so they are made anew.
DELETE FROM embeddings WHERE embedding_id IN (
  SELECT e.embedding_id FROM chunks k JOIN embeddings e ON e.embedding_id = k.embedding_id
    LEFT JOIN models m ON m.model_id = e.model_id
  WHERE k.version_id = :version AND (m.model_id IS NULL OR length(e.vector) <> m.bytes))
