-- collection_find (sqlite): a workspace's collection by name. Index: collections_name. One whose index is gone
-- is there all the same, with no recipe.
SELECT c.collection_id, c.workspace_id, c.name, coalesce(g.recipe_json, ''), coalesce(c.generation, 0), c.building,
  c.revision, c.description, c.created_at
FROM collections c LEFT JOIN generations g ON g.generation_id = c.generation
WHERE c.workspace_id = ? AND c.name = ? AND c.removed_at IS NULL
