-- model_find (sqlite): a model by name, and the length of its vectors.
SELECT model_id, bytes FROM models WHERE name = ?
