-- embedding_find (sqlite): is the vector of a text known? Index: embeddings_key.
SELECT embedding_id FROM embeddings WHERE model_id = ? AND text_key = ?
