-- collection_find (sqlite): a workspace's collection by name. Index: collections_name.
SELECT c.collection_id, c.workspace_id, c.name, g.recipe_json, c.generation, c.building, c.revision, c.description,
  c.created_at
FROM collections c JOIN generations g ON g.generation_id = c.generation
WHERE c.workspace_id = ? AND c.name = ? AND c.removed_at IS NULL
