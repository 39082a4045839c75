-- manifest_ground (sqlite): the answering generations of a scope, how far their collections are, whose vectors they hold,
-- and whether readers see any. Index: versions_current.
SELECT c.collection_id, c.generation, c.revision, g.recipe_json, m.name, m.bytes, EXISTS (SELECT 1
    FROM versions v INDEXED BY versions_current WHERE v.generation_id = c.generation AND v.state = 'current')
FROM json_each(:collections) wanted
  CROSS JOIN collections c ON c.collection_id = wanted.value
  JOIN generations g ON g.generation_id = c.generation
  LEFT JOIN models m ON m.model_id = g.model_id
WHERE c.workspace_id = :workspace AND c.removed_at IS NULL
ORDER BY wanted.key
