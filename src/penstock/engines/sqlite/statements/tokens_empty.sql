-- tokens_empty (sqlite): forget all texts.
INSERT INTO tokens (tokens) VALUES ('delete-all')
