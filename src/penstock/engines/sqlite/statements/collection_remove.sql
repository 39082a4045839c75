-- collection_remove (sqlite): forget a collection's name; nothing of it is seen any more. Whose it was, and its name.
UPDATE collections SET removed_at = ?, revision = revision + 1 WHERE collection_id = ? AND removed_at IS NULL
RETURNING workspace_id, name
