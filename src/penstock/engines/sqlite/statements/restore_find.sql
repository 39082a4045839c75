-- restore_find (sqlite): a collection that is there, with its pointers and the recipes they lead to, in bytes: they
-- may be no text.
SELECT c.generation, CAST(a.recipe_json AS BLOB), c.building, CAST(b.recipe_json AS BLOB)
FROM collections c
  LEFT JOIN generations a ON a.generation_id = c.generation AND a.collection_id = c.collection_id
  LEFT JOIN generations b ON b.generation_id = c.building AND b.collection_id = c.collection_id
WHERE c.collection_id = ? AND c.removed_at IS NULL
