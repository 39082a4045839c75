-- version_grow (sqlite): so many more chunks are written.
UPDATE versions SET chunks = chunks + ? WHERE version_id = ?
