-- collection_add (sqlite): a collection, as yet without a generation; its id.
INSERT INTO collections (workspace_id, name, description, created_at) VALUES (?, ?, ?, ?) RETURNING collection_id
