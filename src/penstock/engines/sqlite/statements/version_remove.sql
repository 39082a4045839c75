-- version_remove (sqlite): a version without chunks; its bytes.
DELETE FROM versions WHERE version_id = ? RETURNING blob
