-- manifest_uses (sqlite): generations that hold a version: by which recipe, how long their vectors are, and whether one
-- is being built. What a failed document left unbuilt counts for nothing. Index: versions_current, versions_building,
-- stages_document.
WITH building AS (
  SELECT DISTINCT v.generation_id FROM versions v INDEXED BY versions_building
  WHERE v.state = 'building'
    AND EXISTS (SELECT 1 FROM stages s WHERE s.document = v.document AND s.finished_at IS NULL))
SELECT g.recipe_json, m.bytes, g.generation_id IN building
FROM generations g
  LEFT JOIN models m ON m.model_id = g.model_id
WHERE g.generation_id IN building OR EXISTS (SELECT 1
  FROM versions v INDEXED BY versions_current WHERE v.generation_id = g.generation_id AND v.state = 'current')
