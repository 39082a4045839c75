-- workspace_rename (sqlite): another name.
UPDATE workspaces SET name = :name WHERE workspace_id = :workspace AND owner = :user AND removed_at IS NULL
