-- generation_add (sqlite): a generation of a recipe; its id.
INSERT INTO generations (collection_id, recipe_json, created_at) VALUES (?, ?, ?) RETURNING generation_id
