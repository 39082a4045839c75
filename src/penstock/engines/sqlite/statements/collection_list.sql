-- collection_list (sqlite): a workspace's collections by name. Index: collections_name.
SELECT c.collection_id, c.workspace_id, c.name, g.recipe_json, c.generation, c.building, c.revision, c.description,
  c.created_at
FROM collections c JOIN generations g ON g.generation_id = c.generation
WHERE c.workspace_id = ? AND c.removed_at IS NULL ORDER BY c.name
