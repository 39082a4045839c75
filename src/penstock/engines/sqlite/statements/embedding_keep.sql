-- embedding_keep (sqlite): remember a vector; one that is known stays. Index: embeddings_key.
INSERT INTO embeddings (model_id, text_key, vector, used_at) VALUES (?, ?, ?, ?)
ON CONFLICT (model_id, text_key) DO UPDATE SET used_at = excluded.used_at WHERE used_at < excluded.used_at
