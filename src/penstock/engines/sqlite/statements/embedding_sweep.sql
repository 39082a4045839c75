-- embedding_sweep (sqlite): vectors no chunk uses and nobody asked to keep for long. Index: embeddings_age.
DELETE FROM embeddings WHERE embedding_id IN (SELECT e.embedding_id FROM embeddings e
  WHERE e.used_at < :before AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.embedding_id = e.embedding_id)
  LIMIT :limit)
