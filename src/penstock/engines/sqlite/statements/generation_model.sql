-- generation_model (sqlite): the first chunk tells whose vectors a generation has; what it has from then on.
UPDATE generations SET model_id = coalesce(model_id, :model) WHERE generation_id = :generation RETURNING model_id
