-- audit_collection_index (sqlite): every collection with the generations it points at, as far as they are its own.
SELECT c.collection_id, c.name, a.generation_id, a.recipe_json, c.building, b.generation_id, b.recipe_json
FROM collections c
  LEFT JOIN generations a ON a.generation_id = c.generation AND a.collection_id = c.collection_id
  LEFT JOIN generations b ON b.generation_id = c.building AND b.collection_id = c.collection_id
WHERE c.removed_at IS NULL
