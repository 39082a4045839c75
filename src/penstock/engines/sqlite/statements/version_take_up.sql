-- version_take_up (sqlite): the version being built of these bytes in this generation. Index: versions_building.
SELECT version_id, blob, state, chunks FROM versions
WHERE document = :document AND generation_id = :generation AND state = 'building'
