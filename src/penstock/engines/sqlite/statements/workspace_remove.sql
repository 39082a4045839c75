-- workspace_remove (sqlite): out of sight.
UPDATE workspaces SET removed_at = :now WHERE workspace_id = :workspace AND owner = :user AND removed_at IS NULL
