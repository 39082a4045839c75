-- tokens_vocabulary (sqlite): every word of every text in it.
CREATE VIRTUAL TABLE token_instances USING fts5vocab(tokens, instance)
