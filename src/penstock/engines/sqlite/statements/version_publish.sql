-- version_publish (sqlite): a complete version becomes current.
UPDATE versions SET state = 'current', chunks = :chunks, published_at = :now WHERE version_id = :version
