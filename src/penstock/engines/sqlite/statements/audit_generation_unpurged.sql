-- audit_generation_unpurged (sqlite): generations that neither answer nor are built and are owed no purge. Where the one
-- that should answer is not there, another may have to.
SELECT g.generation_id, coalesce(c.name, '') FROM generations g LEFT JOIN collections c
  ON c.collection_id = g.collection_id
WHERE (c.collection_id IS NULL OR c.removed_at IS NOT NULL
    OR (g.generation_id IS NOT c.generation AND g.generation_id IS NOT c.building AND EXISTS (
      SELECT 1 FROM generations a WHERE a.generation_id = c.generation AND a.collection_id = c.collection_id)))
  AND NOT EXISTS (SELECT 1 FROM debts WHERE kind = 'purge_generation' AND about = CAST(g.generation_id AS TEXT))
LIMIT :limit
