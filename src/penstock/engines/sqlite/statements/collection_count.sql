-- collection_count (sqlite): how many collections a workspace has, up to a number. Index: collections_name.
SELECT count(*) FROM (SELECT 1 FROM collections WHERE workspace_id = ? AND removed_at IS NULL LIMIT ?)
