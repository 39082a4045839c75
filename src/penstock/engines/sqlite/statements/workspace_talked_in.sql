-- workspace_talked_in (sqlite): a user's workspace by one of its conversations.
SELECT w.workspace_id, w.owner, w.name, w.created_at FROM conversations c JOIN workspaces w USING (workspace_id)
WHERE c.conversation_id = :conversation AND w.owner = :user AND w.removed_at IS NULL
