-- conversation_remove (sqlite): a conversation; the trigger takes its messages with it.
DELETE FROM conversations WHERE conversation_id = :conversation AND workspace_id = :workspace
