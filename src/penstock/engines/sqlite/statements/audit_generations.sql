-- audit_generations (sqlite): the generations in use, with their collection.
SELECT g.generation_id, c.name FROM collections c JOIN generations g ON g.generation_id IN (c.generation, c.building)
WHERE c.removed_at IS NULL ORDER BY g.generation_id
