-- restore_generation (sqlite): put a generation back under its number, unless another has it; its number then.
INSERT INTO generations (generation_id, collection_id, recipe_json, model_id, created_at)
VALUES (:generation, :collection, :recipe, :model, :now) ON CONFLICT DO NOTHING RETURNING generation_id
