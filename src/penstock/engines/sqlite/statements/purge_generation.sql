-- purge_generation (sqlite): a generation no reader needs any more, its collection, and whether that is removed or
-- not there at all.
SELECT g.collection_id, c.collection_id IS NULL OR c.removed_at IS NOT NULL
FROM generations g LEFT JOIN collections c USING (collection_id)
WHERE g.generation_id = ? AND (c.collection_id IS NULL OR c.removed_at IS NOT NULL
  OR (c.generation IS NOT g.generation_id AND c.building IS NOT g.generation_id))
