-- generation_find (sqlite): a generation that is not yet purged.
SELECT generation_id, collection_id, recipe_json FROM generations WHERE generation_id = ?
