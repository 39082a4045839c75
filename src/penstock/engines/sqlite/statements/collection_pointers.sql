-- collection_pointers (sqlite): the generations of a collection that is there.
SELECT generation, building FROM collections WHERE collection_id = ? AND removed_at IS NULL
