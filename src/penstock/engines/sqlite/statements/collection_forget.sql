-- collection_forget (sqlite): a removed collection nothing is left of.
DELETE FROM collections WHERE collection_id = ? AND removed_at IS NOT NULL
