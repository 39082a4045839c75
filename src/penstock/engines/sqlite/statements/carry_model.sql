-- carry_model (sqlite): a generation whose first chunks were carried has the vectors of where they came from.
UPDATE generations SET model_id = coalesce(model_id, (
  SELECT g.model_id FROM versions v JOIN generations g ON g.generation_id = v.generation_id WHERE v.version_id = :old))
WHERE generation_id = :generation
