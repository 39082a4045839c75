-- embedding_remove (sqlite): those of some vectors, given as a JSON list, that no chunk uses. Index: chunks_embedding.
DELETE FROM embeddings WHERE embedding_id IN (SELECT value FROM json_each(?))
  AND NOT EXISTS (SELECT 1 FROM chunks c WHERE c.embedding_id = embeddings.embedding_id)
