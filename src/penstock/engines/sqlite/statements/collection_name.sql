-- collection_name (sqlite): what a collection is called, and whose it is.
SELECT workspace_id, name FROM collections WHERE collection_id = ?
