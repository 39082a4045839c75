-- upload_begin (sqlite): a file begins to come; the trigger tells its owner.
INSERT INTO uploads (upload_id, workspace_id, name, total, due_at, created_at, updated_at)
VALUES (:id, :workspace, :name, :total, :due, :now, :now)
