-- restore_model (sqlite): whose vectors the chunks of a generation have. Indexes: versions_generation, chunks_ordinal.
SELECT m.model_id, m.name FROM versions v
  JOIN chunks k ON k.version_id = v.version_id
  JOIN embeddings e ON e.embedding_id = k.embedding_id
  JOIN models m ON m.model_id = e.model_id
WHERE v.generation_id = ? AND v.state <> 'gone' LIMIT 1
