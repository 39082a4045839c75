-- purge_generation (sqlite): a generation no reader needs any more, and its collection.
SELECT g.collection_id, c.removed_at IS NOT NULL FROM generations g JOIN collections c USING (collection_id)
WHERE g.generation_id = ? AND (c.removed_at IS NOT NULL
  OR (c.generation IS NOT g.generation_id AND c.building IS NOT g.generation_id))
