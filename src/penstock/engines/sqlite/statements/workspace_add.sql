-- workspace_add (sqlite): a workspace of a user.
INSERT INTO workspaces (workspace_id, owner, name, created_at) VALUES (:workspace, :user, :name, :now)
