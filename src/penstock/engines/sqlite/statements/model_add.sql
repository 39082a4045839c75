-- model_add (sqlite): a model whose first vector came.
INSERT INTO models (name, bytes) VALUES (?, ?) RETURNING model_id
