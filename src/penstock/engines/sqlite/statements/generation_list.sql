-- generation_list (sqlite): a collection's generations that are not yet purged. Index: generations_collection.
SELECT generation_id FROM generations WHERE collection_id = ?
