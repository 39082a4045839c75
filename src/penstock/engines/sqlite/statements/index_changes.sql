-- index_changes (sqlite): what readers of a generation gained and lost since a change.
SELECT version_id, shown FROM index_changes WHERE change_id > ? AND generation_id = ? ORDER BY change_id
