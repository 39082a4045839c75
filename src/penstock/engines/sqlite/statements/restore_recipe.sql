-- restore_recipe (sqlite): write the recipe of a generation anew.
UPDATE generations SET recipe_json = :recipe, model_id = coalesce(model_id, :model) WHERE generation_id = :generation
