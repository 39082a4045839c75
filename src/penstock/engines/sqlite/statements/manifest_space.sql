-- manifest_space (sqlite): the recipe a version is made by, and how long its vectors are.
SELECT g.recipe_json, m.bytes FROM versions v
  JOIN generations g ON g.generation_id = v.generation_id
  JOIN models m ON m.model_id = g.model_id
WHERE v.version_id = ? AND v.state <> 'gone'
