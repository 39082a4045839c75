-- collection_add (sqlite): a collection of a workspace that is there, as yet without a generation; its id.
INSERT INTO collections (workspace_id, name, description, created_at)
SELECT workspace_id, :name, :description, :now FROM workspaces WHERE workspace_id = :workspace AND removed_at IS NULL
RETURNING collection_id
