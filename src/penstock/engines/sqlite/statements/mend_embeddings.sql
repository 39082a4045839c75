-- mend_embeddings (sqlite): forget vectors that are none, given as a JSON list, so they are made anew.
DELETE FROM embeddings WHERE embedding_id IN (SELECT value FROM json_each(?))
