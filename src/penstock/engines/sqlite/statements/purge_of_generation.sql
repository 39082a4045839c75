-- purge_of_generation (sqlite): one of its versions. Index: versions_generation.
SELECT version_id, generation_id FROM versions WHERE generation_id = ? LIMIT 1
