-- generation_building (sqlite): is it being built beside the answering one?
SELECT EXISTS (SELECT 1 FROM generations g JOIN collections c USING (collection_id)
  WHERE g.generation_id = ? AND c.building = g.generation_id AND c.removed_at IS NULL)
