-- collection_point (sqlite): which generation answers, which is being built. A reader sees the change.
UPDATE collections SET generation = :generation, building = :building, revision = revision + 1
WHERE collection_id = :collection
