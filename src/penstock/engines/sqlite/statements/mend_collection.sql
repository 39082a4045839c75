-- mend_collection (sqlite): let the newest generation answer that is the collection's own, is not being built and is owed
-- no purge; nothing happens where there is none.
UPDATE collections SET revision = revision + 1, generation = (
  SELECT max(g.generation_id) FROM generations g
  WHERE g.collection_id = collections.collection_id AND g.generation_id IS NOT collections.building
    AND NOT EXISTS (SELECT 1 FROM debts WHERE kind = 'purge_generation' AND about = CAST(g.generation_id AS TEXT)))
WHERE collection_id = :collection AND removed_at IS NULL
  AND NOT EXISTS (SELECT 1 FROM generations g
    WHERE g.generation_id = collections.generation AND g.collection_id = collections.collection_id)
  AND EXISTS (SELECT 1 FROM generations g
    WHERE g.collection_id = collections.collection_id AND g.generation_id IS NOT collections.building
      AND NOT EXISTS (SELECT 1 FROM debts WHERE kind = 'purge_generation' AND about = CAST(g.generation_id AS TEXT)))
